/*
 * Quantised attention on AMD and NVIDIA GPUs: O = softmax(sm_scale * Q K^T + mask) V, with Q and K in int8.
 *
 * The library compiles nothing and owns no memory on the GPU. A caller makes a context from code objects that were
 * built beforehand, asks how much workspace a problem needs, allocates it, and launches on a stream of its own:
 *
 *     sage_context* context;
 *     sage_context_from_folder("/opt/sage/kernels", NULL, &context, &error);
 *     sage_attention_workspace(context, &problem, &bytes, &error);
 *     ... allocate `bytes` on the GPU ...
 *     sage_attention_launch(context, &problem, &buffers, stream, &error);
 *
 * Threads. A context never changes after it has been made: any number of threads may use one at the same time. Making
 * and destroying contexts is thread-safe too; a context must not be destroyed while another thread uses it.
 *
 * Memory and time. Apart from the two functions that make a context, nothing here allocates, on the host or on the GPU,
 * and nothing ever waits for the GPU. A launch may be recorded into a graph.
 *
 * Errors. Every function that can fail returns a sage_status and, where the caller passes a sage_error, fills it with
 * the same status and one line of text with the values in question. SAGE_OK is 0. When a function fails because of its
 * arguments, nothing has been launched.
 *
 * The GPU's driver library (libamdhip64.so, libcuda.so.1) is the one that the process has mapped already, for example
 * PyTorch's own copy; a second one is never loaded beside it.
 *
 * Versions. Structures begin with struct_size and version, which the caller sets to sizeof(the structure) and
 * SAGE_ATTENTION_VERSION. Later versions of this header append fields and keep the meaning of what is here. A structure
 * that is longer than the library's is accepted if all bytes that the library does not know are zero.
 */
#ifndef SAGE_ATTENTION_H
#define SAGE_ATTENTION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

enum { SAGE_ATTENTION_VERSION = 1 };

typedef int32_t sage_status;

enum {
  SAGE_OK = 0,

  /* Arguments of a function. */
  SAGE_E_NULL_CONTEXT = 1,
  SAGE_E_NULL_PROBLEM = 2,
  SAGE_E_NULL_BUFFERS = 3,
  SAGE_E_NULL_RESULT = 4,    /* nowhere to put the result */
  SAGE_E_STRUCT_SIZE = 5,    /* smaller than version 1 */
  SAGE_E_STRUCT_VERSION = 6, /* version 0, or later than the library's */
  SAGE_E_STRUCT_TAIL = 7,    /* unknown trailing bytes are not zero */
  SAGE_E_OPTION = 8,         /* sage_context_options.api or .reserved */

  /* Fields of sage_attention_problem. */
  SAGE_E_BATCH = 20,
  SAGE_E_Q_HEADS = 21,
  SAGE_E_KV_HEADS = 22,
  SAGE_E_HEAD_RATIO = 23, /* kv_heads does not divide q_heads */
  SAGE_E_Q_LEN = 24,
  SAGE_E_KV_LEN = 25,
  SAGE_E_HEAD_DIM = 26,
  SAGE_E_IO_TYPE = 27,
  SAGE_E_PV_TYPE = 28,
  SAGE_E_PV_UNAVAILABLE = 29, /* a valid type that this GPU has no instructions for */
  SAGE_E_MASK = 30,
  SAGE_E_FLAGS = 31,
  SAGE_E_SM_SCALE = 32,
  SAGE_E_RESERVED = 33,
  SAGE_E_GRID = 34,     /* more workgroups than one launch can have */
  SAGE_E_Q_STRIDE = 35, /* an element further than 2^60 bytes from the base */
  SAGE_E_K_STRIDE = 36,
  SAGE_E_V_STRIDE = 37,
  SAGE_E_OUT_STRIDE = 38,
  SAGE_E_OUT_OVERLAP = 39, /* the strides of the output do not keep its elements apart */

  /* Fields of sage_attention_buffers. */
  SAGE_E_NULL_Q = 50,
  SAGE_E_NULL_K = 51,
  SAGE_E_NULL_V = 52,
  SAGE_E_NULL_OUT = 53,
  SAGE_E_NULL_LSE = 54,     /* wanted by the flags, but no buffer */
  SAGE_E_UNWANTED_LSE = 55, /* a buffer, but not wanted by the flags */
  SAGE_E_NULL_WORKSPACE = 56,
  SAGE_E_Q_ALIGNMENT = 57,
  SAGE_E_K_ALIGNMENT = 58,
  SAGE_E_V_ALIGNMENT = 59,
  SAGE_E_OUT_ALIGNMENT = 60,
  SAGE_E_LSE_ALIGNMENT = 61,
  SAGE_E_WORKSPACE_ALIGNMENT = 62,
  SAGE_E_WORKSPACE_SIZE = 63,

  /* Code objects. */
  SAGE_E_FOLDER = 80,           /* cannot be read */
  SAGE_E_NO_OBJECTS = 81,       /* none given, or no code object in the folder */
  SAGE_E_OBJECT_MALFORMED = 82, /* truncated, damaged, of no known kind */
  SAGE_E_OBJECT_TARGET = 83,    /* all for other targets than this GPU */
  SAGE_E_OBJECT_KERNELS = 84,   /* a kernel that every call needs is missing */
  SAGE_E_OBJECT_ABI = 85,       /* built from another version of the sources: other arguments or shapes */
  SAGE_E_NO_KERNEL = 86,        /* valid problem, but the code objects have no kernel for it */

  /* Driver library and GPU. */
  SAGE_E_NO_RUNTIME = 100,         /* none mapped and no usable path given */
  SAGE_E_RUNTIME_AMBIGUOUS = 101,  /* two copies are mapped, or HIP and CUDA, and the options do not decide */
  SAGE_E_RUNTIME_SYMBOL = 102,     /* the library lacks a function */
  SAGE_E_NO_DEVICE = 103,          /* the driver reports no GPU, or the thread has no current CUDA context */
  SAGE_E_UNSUPPORTED_TARGET = 104, /* this GPU has no matrix instructions that the kernels use */
  SAGE_E_WRONG_DEVICE = 105,       /* the calling thread's current device is not the context's */
  SAGE_E_DRIVER = 106,             /* a driver function failed: sage_error.driver_code */

  SAGE_E_OUT_OF_MEMORY = 120, /* on the host */
  SAGE_E_INTERNAL = 121
};

/* Where a failing function puts its reason. No field needs to be set before. */
typedef struct sage_error {
  sage_status status;
  int32_t driver_code; /* hipError_t or CUresult where status is SAGE_E_DRIVER or SAGE_E_NO_DEVICE, otherwise 0 */
  char text[504];      /* one line of ASCII, terminated */
} sage_error;

/* Constant text that explains a status, never NULL; "unknown status" for a number that is none. */
const char* sage_status_text(sage_status status);

/* SAGE_ATTENTION_VERSION of the library, which may be later than the caller's header. */
uint32_t sage_attention_version(void);

/* ---- Contexts ------------------------------------------------------------------------------------------------------
 */

typedef struct sage_context sage_context;

enum { SAGE_API_AUTO = 0, SAGE_API_HIP = 1, SAGE_API_CUDA = 2 };

typedef struct sage_context_options {
  uint32_t struct_size;
  uint32_t version;
  /* SAGE_API_*. AUTO takes the one whose library the process has mapped. */
  uint32_t api;
  uint32_t reserved; /* 0 */
  /* Driver library to load if the process has none mapped, or NULL. If two copies are mapped, the one that is this very
   * file (same inode) is used. The name must begin with libamdhip64 or libcuda unless `api` says which it is. */
  const char* runtime_path;
} sage_context_options;

/* One code object in memory: an AMDGPU code object, an offload bundle (not compressed), a cubin or PTX text. Its kind
 * is read from its contents. The bytes are not needed after the context has been made. */
typedef struct sage_object {
  const void* data;
  uint64_t size; /* bytes */
} sage_object;

/*
 * Makes a context for the calling thread's current device (HIP: hipSetDevice; CUDA: a current context, such as the one
 * PyTorch makes). Loads the modules, which allocates on the GPU and may synchronise. `options` may be NULL: all
 * defaults.
 *
 * Of several objects for this GPU all are used, exact targets before generic ones, and a kernel that is in two of them
 * is taken from the first. Objects for other targets are passed over as long as one fits.
 *
 * Errors: SAGE_E_NULL_RESULT, SAGE_E_STRUCT_*, SAGE_E_OPTION, SAGE_E_NO_OBJECTS, SAGE_E_OBJECT_*, all of "Driver
 * library and GPU" except SAGE_E_WRONG_DEVICE, SAGE_E_OUT_OF_MEMORY. *context is NULL after an error.
 */
sage_status sage_context_from_memory(const sage_object* objects, uint32_t count, const sage_context_options* options,
                                     sage_context** context, sage_error* error);

/* The same from all files of a folder (not of folders inside of it) that end in .hsaco, .co, .cubin or .ptx, in the
 * order of their names. A file that is damaged is an error even if others would do: it would be a silent loss of
 * kernels otherwise. Additional errors: SAGE_E_FOLDER (also for NULL).
 *
 * A file tuning.txt in the folder (sage-doctor bench --tune) says which of the kernels serves which shapes on this GPU.
 * One that is damaged, or that was made for another GPU or other kernels, is ignored: see sage_context_tuning. */
sage_status sage_context_from_folder(const char* folder, const sage_context_options* options, sage_context** context,
                                     sage_error* error);

/* Unloads the modules. All launches must have finished. NULL is allowed. */
void sage_context_destroy(sage_context* context);

/* Texts live as long as the context. */
typedef struct sage_context_info {
  const char* target;       /* "gfx1201", "gfx90a:sramecc+:xnack-", "sm_90" */
  const char* runtime_path; /* the driver library in use */
  uint32_t api;             /* SAGE_API_HIP or SAGE_API_CUDA */
  int32_t device;           /* ordinal, as the driver counts */
  uint32_t kernel_count;    /* attention kernels found for this GPU */
  uint32_t reserved;
} sage_context_info;

/* Errors: SAGE_E_NULL_CONTEXT, SAGE_E_NULL_RESULT. */
sage_status sage_context_describe(const sage_context* context, sage_context_info* info, sage_error* error);

/* Texts that live as long as the context, never NULL; "" for a NULL context.
 * The GPU's name as its driver has it, "" where it has none. */
const char* sage_context_gpu_name(const sage_context* context);
/* What became of the folder's tuning.txt, one line: "6 choices of tuning.txt", or why it is ignored; "": there is none. */
const char* sage_context_tuning(const sage_context* context);

/* ---- Problems ------------------------------------------------------------------------------------------------------
 */

/* Element type of q, k, v and out. */
enum { SAGE_IO_F16 = 0, SAGE_IO_BF16 = 1 };

/* Type in which P and V are multiplied. FP8 is e4m3; it needs gfx12, gfx942 or sm_89. */
enum { SAGE_PV_TYPE_F16 = 0, SAGE_PV_TYPE_FP8 = 1 };

/* With i the query and j the key, both from 0. Without a key to see, a query's output is 0 and its LSE -inf. */
enum {
  SAGE_ATTENTION_MASK_NONE = 0,
  SAGE_ATTENTION_MASK_CAUSAL_BOTTOM_RIGHT = 1, /* j <= i + kv_len - q_len: the last query sees every key */
  SAGE_ATTENTION_MASK_CAUSAL_TOP_LEFT = 2      /* j <= i */
};

enum {
  /* Subtract each channel's mean over the keys from K before it is quantised. The result is the same in exact
   * arithmetic and far more accurate where channels have an offset. Costs one more pass over K. */
  SAGE_FLAG_SMOOTH_K = 1,
  /* Write the log-sum-exp of every query's scaled scores. */
  SAGE_FLAG_LSE = 2
};

/* Distances between neighbours, in elements (not bytes), of any sign. A dimension whose extent is 1 is never stepped
 * along. HND tensors [batch][head][token][dim] and NHD tensors [batch][token][head][dim] differ in nothing else.
 * Fastest: dim 1, the others multiples of 8, the base address a multiple of 16 bytes. */
typedef struct sage_strides {
  int64_t batch;
  int64_t head;
  int64_t token;
  int64_t dim;
} sage_strides;

typedef struct sage_attention_problem {
  uint32_t struct_size;
  uint32_t version;
  int32_t batch;     /* 1 .. 2^31-1 */
  int32_t q_heads;   /* 1 .. 2^31-1, a multiple of kv_heads */
  int32_t kv_heads;  /* 1 .. 2^31-1; query head h reads key head h / (q_heads / kv_heads) */
  int32_t q_len;     /* queries per sequence, 1 .. 2^30 */
  int32_t kv_len;    /* keys per sequence, 0 .. 2^22; with 0 every output is 0 and every LSE -inf */
  int32_t head_dim;  /* 1 .. 256; computed at 64, 96, 128 or 256 */
  uint32_t io_type;  /* SAGE_IO_* */
  uint32_t pv_type;  /* SAGE_PV_TYPE_* */
  uint32_t mask;     /* SAGE_ATTENTION_MASK_* */
  uint32_t flags;    /* SAGE_FLAG_* */
  float sm_scale;    /* factor of q.k, usually 1/sqrt(head_dim); -65536 .. 65536 */
  uint32_t reserved; /* 0 */
  sage_strides q;    /* [batch][q_heads][q_len][head_dim] */
  sage_strides k;    /* [batch][kv_heads][kv_len][head_dim]; a stride of 0 repeats an element */
  sage_strides v;    /* as k */
  sage_strides out;  /* as q; ordered by size, each stride steps over all that the smaller ones reach */
} sage_attention_problem;

/* Addresses on the GPU. `out`, `lse` and `workspace` must not overlap each other nor the inputs. */
typedef struct sage_attention_buffers {
  uint32_t struct_size;
  uint32_t version;
  const void* q; /* io_type, 2-byte aligned */
  const void* k; /* may be NULL when kv_len is 0 */
  const void* v; /* may be NULL when kv_len is 0 */
  void* out;     /* io_type, 2-byte aligned */
  float*
      lse; /* f32 [batch][q_heads][q_len], contiguous, natural logarithm, 4-byte aligned; NULL without SAGE_FLAG_LSE */
  void* workspace;         /* 256-byte aligned; contents before and after a call mean nothing */
  uint64_t workspace_size; /* bytes, at least what sage_attention_workspace says */
} sage_attention_buffers;

/*
 * Bytes of workspace on the GPU that this problem needs. Depends on the shapes, types and flags, not on the strides. A
 * workspace may be used again by a later launch on the same stream.
 * Errors: SAGE_E_NULL_CONTEXT, SAGE_E_NULL_PROBLEM, SAGE_E_NULL_RESULT, SAGE_E_STRUCT_*, those of the problem's fields,
 * SAGE_E_NO_KERNEL.
 */
sage_status sage_attention_workspace(const sage_context* context, const sage_attention_problem* problem,
                                     uint64_t* bytes, sage_error* error);

/*
 * Name of the attention kernel that a launch of this problem runs, for logs and tests: constant text.
 * Errors: as sage_attention_workspace.
 */
sage_status sage_attention_kernel(const sage_context* context, const sage_attention_problem* problem, const char** name,
                                  sage_error* error);

/*
 * Enqueues two to four kernels on `stream` (hipStream_t or CUstream; NULL is the default stream) and returns.
 * Everything is checked before the first launch. If the driver refuses a launch (SAGE_E_DRIVER), earlier ones of the
 * same call have been enqueued and the output is undefined. Errors: as sage_attention_workspace, SAGE_E_NULL_BUFFERS,
 * those of the buffers' fields, SAGE_E_WRONG_DEVICE, SAGE_E_DRIVER.
 */
sage_status sage_attention_launch(const sage_context* context, const sage_attention_problem* problem,
                                  const sage_attention_buffers* buffers, void* stream, sage_error* error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
