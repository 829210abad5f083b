#include "sage/attention.h"

extern "C" const char* sage_status_text(sage_status status) {
  switch (status) {
    case SAGE_OK:
      return "no error";
    case SAGE_E_NULL_CONTEXT:
      return "context is NULL";
    case SAGE_E_NULL_PROBLEM:
      return "problem is NULL";
    case SAGE_E_NULL_BUFFERS:
      return "buffers is NULL";
    case SAGE_E_NULL_RESULT:
      return "nowhere to put the result";
    case SAGE_E_STRUCT_SIZE:
      return "impossible struct_size";
    case SAGE_E_STRUCT_VERSION:
      return "unknown version of a structure";
    case SAGE_E_STRUCT_TAIL:
      return "unknown fields of a structure are set";
    case SAGE_E_OPTION:
      return "unknown option";
    case SAGE_E_BATCH:
      return "batch out of range";
    case SAGE_E_Q_HEADS:
      return "q_heads out of range";
    case SAGE_E_KV_HEADS:
      return "kv_heads out of range";
    case SAGE_E_HEAD_RATIO:
      return "kv_heads does not divide q_heads";
    case SAGE_E_Q_LEN:
      return "q_len out of range";
    case SAGE_E_KV_LEN:
      return "kv_len out of range";
    case SAGE_E_HEAD_DIM:
      return "head_dim out of range";
    case SAGE_E_IO_TYPE:
      return "unknown io_type";
    case SAGE_E_PV_TYPE:
      return "unknown pv_type";
    case SAGE_E_PV_UNAVAILABLE:
      return "pv_type not available on this GPU";
    case SAGE_E_MASK:
      return "unknown mask";
    case SAGE_E_FLAGS:
      return "unknown flags";
    case SAGE_E_SM_SCALE:
      return "sm_scale out of range";
    case SAGE_E_RESERVED:
      return "a reserved field is not zero";
    case SAGE_E_GRID:
      return "problem too large for one launch";
    case SAGE_E_Q_STRIDE:
      return "strides of q out of range";
    case SAGE_E_K_STRIDE:
      return "strides of k out of range";
    case SAGE_E_V_STRIDE:
      return "strides of v out of range";
    case SAGE_E_OUT_STRIDE:
      return "strides of out out of range";
    case SAGE_E_OUT_OVERLAP:
      return "elements of out overlap";
    case SAGE_E_NULL_Q:
      return "q is NULL";
    case SAGE_E_NULL_K:
      return "k is NULL";
    case SAGE_E_NULL_V:
      return "v is NULL";
    case SAGE_E_NULL_OUT:
      return "out is NULL";
    case SAGE_E_NULL_LSE:
      return "lse is NULL but wanted";
    case SAGE_E_UNWANTED_LSE:
      return "lse is set but not wanted";
    case SAGE_E_NULL_WORKSPACE:
      return "workspace is NULL";
    case SAGE_E_Q_ALIGNMENT:
      return "q is misaligned";
    case SAGE_E_K_ALIGNMENT:
      return "k is misaligned";
    case SAGE_E_V_ALIGNMENT:
      return "v is misaligned";
    case SAGE_E_OUT_ALIGNMENT:
      return "out is misaligned";
    case SAGE_E_LSE_ALIGNMENT:
      return "lse is misaligned";
    case SAGE_E_WORKSPACE_ALIGNMENT:
      return "workspace is misaligned";
    case SAGE_E_WORKSPACE_SIZE:
      return "workspace too small";
    case SAGE_E_FOLDER:
      return "folder cannot be read";
    case SAGE_E_NO_OBJECTS:
      return "no code objects";
    case SAGE_E_OBJECT_MALFORMED:
      return "damaged code object";
    case SAGE_E_OBJECT_TARGET:
      return "code objects are for other targets";
    case SAGE_E_OBJECT_KERNELS:
      return "code objects lack a kernel that every call needs";
    case SAGE_E_OBJECT_ABI:
      return "code object built from another version of the sources";
    case SAGE_E_NO_KERNEL:
      return "no kernel for this problem";
    case SAGE_E_NO_RUNTIME:
      return "no GPU driver library";
    case SAGE_E_RUNTIME_AMBIGUOUS:
      return "more than one GPU driver library is mapped";
    case SAGE_E_RUNTIME_SYMBOL:
      return "the GPU driver library lacks a function";
    case SAGE_E_NO_DEVICE:
      return "no GPU";
    case SAGE_E_UNSUPPORTED_TARGET:
      return "unsupported GPU";
    case SAGE_E_WRONG_DEVICE:
      return "current device is not the context's";
    case SAGE_E_DRIVER:
      return "the GPU driver reported an error";
    case SAGE_E_OUT_OF_MEMORY:
      return "out of memory on the host";
    case SAGE_E_INTERNAL:
      return "internal error";
    default:
      return "unknown status";
  }
}
