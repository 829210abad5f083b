// The C functions: null checks, exceptions stopped at the border, everything else is in Context.
#include <exception>
#include <new>

#include "context.hpp"

namespace rt = sage::runtime;

struct sage_context {
  std::unique_ptr<rt::Context> inside;
};

namespace {

template <class Work>
sage_status guarded(sage_error* error, Work&& work) noexcept {
  try {
    return rt::report(work(), error);
  } catch (const std::bad_alloc&) {
    return rt::report(rt::fail(SAGE_E_OUT_OF_MEMORY, "out of memory on the host"), error);
  } catch (const std::exception& e) {
    return rt::report(rt::fail(SAGE_E_INTERNAL, "internal error: %s", e.what()), error);
  } catch (...) {
    return rt::report(rt::fail(SAGE_E_INTERNAL, "internal error"), error);
  }
}

rt::Failure read_options(const sage_context_options* options, sage_context_options& copy) {
  if (options == nullptr) return rt::success();
  if (auto failure = rt::copy_versioned(options, &copy, sizeof copy, "options")) return failure;
  if (copy.reserved != 0) return rt::fail(SAGE_E_OPTION, "options.reserved is %u; it must be 0", copy.reserved);
  return rt::success();
}

rt::Failure make(std::vector<rt::Offered> offered, const rt::TuningFile& tuning, const sage_context_options& options,
                 sage_context** context) {
  auto made = std::make_unique<sage_context>();
  if (auto failure = rt::Context::make(std::move(offered), tuning, options.api, options.runtime_path, made->inside))
    return failure;
  *context = made.release();
  return rt::success();
}

}  // namespace

extern "C" {

uint32_t sage_attention_version(void) {
  return SAGE_ATTENTION_VERSION;
}

sage_status sage_context_from_memory(const sage_object* objects, uint32_t count, const sage_context_options* options,
                                     sage_context** context, sage_error* error) {
  return guarded(error, [&]() -> rt::Failure {
    if (context == nullptr) return rt::fail(SAGE_E_NULL_RESULT, "context is NULL");
    *context = nullptr;
    sage_context_options read{};
    if (auto failure = read_options(options, read)) return failure;
    if (objects == nullptr || count == 0) return rt::fail(SAGE_E_NO_OBJECTS, "no code object was given");
    std::vector<rt::Offered> offered;
    for (uint32_t i = 0; i < count; ++i) {
      const auto* const data = static_cast<const std::byte*>(objects[i].data);
      if (data == nullptr || objects[i].size == 0) return rt::fail(SAGE_E_OBJECT_MALFORMED, "object %u is empty", i);
      offered.push_back({"object " + std::to_string(i), {data, data + objects[i].size}});
    }
    return make(std::move(offered), {}, read, context);
  });
}

sage_status sage_context_from_folder(const char* folder, const sage_context_options* options, sage_context** context,
                                     sage_error* error) {
  return guarded(error, [&]() -> rt::Failure {
    if (context == nullptr) return rt::fail(SAGE_E_NULL_RESULT, "context is NULL");
    *context = nullptr;
    sage_context_options read{};
    if (auto failure = read_options(options, read)) return failure;
    std::vector<rt::Offered> offered;
    if (auto failure = rt::read_folder(folder, offered)) return failure;
    return make(std::move(offered), rt::find_tuning(folder), read, context);
  });
}

void sage_context_destroy(sage_context* context) {
  delete context;
}

sage_status sage_context_describe(const sage_context* context, sage_context_info* info, sage_error* error) {
  return guarded(error, [&]() -> rt::Failure {
    if (context == nullptr) return rt::fail(SAGE_E_NULL_CONTEXT, "context is NULL");
    if (info == nullptr) return rt::fail(SAGE_E_NULL_RESULT, "info is NULL");
    context->inside->describe(*info);
    return rt::success();
  });
}

const char* sage_context_gpu_name(const sage_context* context) {
  return context == nullptr ? "" : context->inside->gpu_name();
}

const char* sage_context_tuning(const sage_context* context) {
  return context == nullptr ? "" : context->inside->tuning();
}

sage_status sage_attention_workspace(const sage_context* context, const sage_attention_problem* problem,
                                     uint64_t* bytes, sage_error* error) {
  return guarded(error, [&]() -> rt::Failure {
    if (context == nullptr) return rt::fail(SAGE_E_NULL_CONTEXT, "context is NULL");
    if (bytes == nullptr) return rt::fail(SAGE_E_NULL_RESULT, "bytes is NULL");
    return context->inside->workspace(problem, *bytes);
  });
}

sage_status sage_attention_kernel(const sage_context* context, const sage_attention_problem* problem, const char** name,
                                  sage_error* error) {
  return guarded(error, [&]() -> rt::Failure {
    if (context == nullptr) return rt::fail(SAGE_E_NULL_CONTEXT, "context is NULL");
    if (name == nullptr) return rt::fail(SAGE_E_NULL_RESULT, "name is NULL");
    return context->inside->kernel_name(problem, *name);
  });
}

sage_status sage_attention_launch(const sage_context* context, const sage_attention_problem* problem,
                                  const sage_attention_buffers* buffers, void* stream, sage_error* error) {
  return guarded(error, [&]() -> rt::Failure {
    if (context == nullptr) return rt::fail(SAGE_E_NULL_CONTEXT, "context is NULL");
    return context->inside->launch(problem, buffers, stream);
  });
}

}  // extern "C"
