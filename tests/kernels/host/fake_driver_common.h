/* The part that both stand-ins share; included by each, so that each has a state of its own. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fake_driver.h"

static struct fake_state state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct fake_state* fake_state(void) { return &state; }

struct fake_module {
  int is_live;
};

struct fake_function {
  struct fake_module* module;
  char name[64];
  struct fake_function* next;
};
static struct fake_function* functions;

static int load_module(void** module, const void* image) {
  if (state.load_result != 0) return state.load_result;
  if (image == NULL) return 1;
  struct fake_module* made = calloc(1, sizeof *made);
  made->is_live = 1;
  ++state.modules_loaded;
  ++state.modules_live;
  *module = made;
  return 0;
}

static int unload_module(void* module) {
  free(module);
  --state.modules_live;
  return 0;
}

static int get_function(void** function, void* module, const char* name) {
  ++state.functions_asked;
  if (state.function_result != 0) return state.function_result;
  struct fake_function* made = calloc(1, sizeof *made);
  made->module = module;
  strncpy(made->name, name, sizeof made->name - 1);
  made->next = functions;
  functions = made;
  *function = made;
  return 0;
}

static int early_launch;

static inline int launch_kernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes, void* stream,
                         void** arguments, void** extra) {
  pthread_mutex_lock(&lock);
  ++state.launched_total;
  if (state.failing_launch == state.launched_total) {
    pthread_mutex_unlock(&lock);
    return state.launch_result;
  }
  struct fake_launch launch;
  memset(&launch, 0, sizeof launch);
  memcpy(launch.kernel, ((struct fake_function*)function)->name, sizeof launch.kernel);
  launch.grid[0] = gx;
  launch.grid[1] = gy;
  launch.grid[2] = gz;
  launch.block[0] = bx;
  launch.block[1] = by;
  launch.block[2] = bz;
  launch.shared_bytes = shared_bytes;
  launch.stream = stream;
  launch.extra_used = extra != NULL;
  launch.early = early_launch;
  if (arguments != NULL) memcpy(launch.arguments, arguments[0], state.argument_bytes);
  if (arguments != NULL && strstr(launch.kernel, "_sm90_") != NULL) memcpy(&launch.map, arguments[1], sizeof launch.map);
  if (state.launches < FAKE_MAX_LAUNCHES) state.log[state.launches++] = launch;
  pthread_mutex_unlock(&lock);
  if (state.on_launch != NULL) state.on_launch(&launch);
  return 0;
}
