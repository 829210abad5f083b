if [ -n "$BASH_VERSION" ]; then
  if [ -f "$HOME/.bashrc" ]; then
    . "$HOME/.bashrc"
  fi
fi
export HSA_ENABLE_DXG_DETECTION=1
export HSA_ENABLE_DTIF=1
