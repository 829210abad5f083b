case $- in
    *i*) ;;
      *) return;;
esac
export HSA_OVERRIDE_GFX_VERSION=11.0.0
