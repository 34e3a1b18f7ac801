/*
 * clock-shim: moves the wall clock of a process and leaves CLOCK_MONOTONIC alone.
 *
 * LD_PRELOAD=clock-shim.so CLOCK_SHIM_FILE=path program
 *
 * The file has 8 bytes: the offset in microseconds, int64, little endian. Whoever writes it steps the clock at once.
 * It makes system calls by itself: programs with an allocator of their own read the clock before libc is ready.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *offset;

__attribute__((constructor)) static void map(void) {
  const char *path = getenv("CLOCK_SHIM_FILE");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(0, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) offset = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = syscall(SYS_clock_gettime, clock, time);
  if (result || !offset || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  int64_t us = *offset, ns = (int64_t)time->tv_nsec + us % 1000000 * 1000;
  time->tv_sec += us / 1000000 + ns / 1000000000;
  time->tv_nsec = ns % 1000000000;
  if (time->tv_nsec < 0) {
    time->tv_nsec += 1000000000;
    time->tv_sec--;
  }
  return 0;
}

int gettimeofday(struct timeval *restrict value, void *restrict zone) {
  struct timespec time;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &time);
  value->tv_sec = time.tv_sec;
  value->tv_usec = time.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
