// The tag of C++ exceptions, by which a module's `catch` finds them. The compiler's own library for
// this machine is built without it (gpu_envs/building/wasm.py adds the rest).
asm(".globl __cpp_exception\n"
    ".tagtype __cpp_exception i32\n"
    "__cpp_exception:\n");

// What a thread owns is destroyed where it ends: here it never does.
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) {
  return 0;
}
