if [ -n "$BASH_VERSION" ]; then
  if [ -f "$HOME/.bashrc" ]; then
    . "$HOME/.bashrc"
  fi
fi
export ROCR_VISIBLE_DEVICES=GPU-1122334455667788
