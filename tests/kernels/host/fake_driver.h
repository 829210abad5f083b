/* What the stand-in driver libraries record, and what they can be told to answer. Plain C, and no C++ runtime in the
 * libraries, so that they can be unloaded again within one test process. */
#ifndef SAGE_TEST_FAKE_DRIVER_H
#define SAGE_TEST_FAKE_DRIVER_H

enum { FAKE_MAX_LAUNCHES = 64, FAKE_ARGUMENT_BYTES = 1024 };

struct fake_launch {
  char kernel[64];
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* stream;
  int extra_used;
  int early; /* CUDA: launched so that it may start before the kernel before it has ended */
  unsigned char arguments[FAKE_ARGUMENT_BYTES]; /* the bytes behind the first argument pointer */
  unsigned long long map; /* CUDA: the first word of what lies behind the second, for kernels that have one */
};

/* A tensor map that was asked for, as cuTensorMapEncodeTiled got it. */
struct fake_map {
  int data_type;
  unsigned rank;
  void* base;
  unsigned long long extents[4];
  unsigned long long strides[3];
  unsigned box[4];
  unsigned steps[4];
  int interleave, swizzle, promotion, fill;
  int aligned; /* the map lay at a boundary of 64 bytes */
};

struct fake_state {
  /* Answers. */
  char target[64]; /* HIP */
  int major, minor;    /* CUDA */
  int device;
  int get_device_result;
  int properties_result;
  int load_result;
  int function_result;
  int init_result;
  int launch_result;
  int failing_launch; /* this launch (from 1) gives launch_result; 0: none does */
  unsigned argument_bytes; /* how much of the argument to copy */
  int map_result;
  void (*on_launch)(const struct fake_launch*); /* called after recording, or NULL */
  /* Records. */
  int maps; /* the number of the last one is the first word of it */
  struct fake_map map;
  int launches;
  int launched_total; /* counts on beyond FAKE_MAX_LAUNCHES */
  int modules_loaded;
  int modules_live;
  int functions_asked;
  int functions_unknown;
  int attribute_calls;
  int attribute_last_value;
  struct fake_launch log[FAKE_MAX_LAUNCHES];
};

typedef struct fake_state* (*fake_state_function)(void);

#endif
