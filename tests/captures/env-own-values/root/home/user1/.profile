export MAX_JOBS=16
