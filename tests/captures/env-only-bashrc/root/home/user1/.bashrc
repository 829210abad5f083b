case $- in
    *i*) ;;
      *) return;;
esac
export ROCM_PATH=/opt/rocm-7.2.0
export HIP_VISIBLE_DEVICES=0
