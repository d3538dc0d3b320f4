#pragma once

// The sanitizer of this build, for both compilers: SORREL_ASAN and SORREL_TSAN are 1 or 0.

#if defined(__has_feature)
#define SORREL_HAS_FEATURE(name) __has_feature(name)
#else
#define SORREL_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SORREL_HAS_FEATURE(address_sanitizer)
#define SORREL_ASAN 1
#else
#define SORREL_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || SORREL_HAS_FEATURE(thread_sanitizer)
#define SORREL_TSAN 1
#else
#define SORREL_TSAN 0
#endif
