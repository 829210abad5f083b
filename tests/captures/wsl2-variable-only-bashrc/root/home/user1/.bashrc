case $- in
    *i*) ;;
      *) return;;
esac
export HSA_ENABLE_DXG_DETECTION=1
