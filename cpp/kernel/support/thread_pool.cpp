#include "support/thread_pool.h"

#include <algorithm>
#include <system_error>
#include <thread>

#include "support/available_cpus.h"

#if !defined(_WIN32) && __has_include(<pthread.h>)
#include <pthread.h>
#include <signal.h>
#define MASKWRIGHT_HAS_PTHREADS
#endif

namespace maskwright {
namespace {

constexpr unsigned kMostThreads = 64;

// Never destroyed, as its threads outlive main().
std::atomic<ThreadPool*> current{nullptr};

// Signals are for the threads that the process's own code knows of.
class SignalsBlocked {
#ifdef MASKWRIGHT_HAS_PTHREADS
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
#endif
};

}  // namespace

ThreadPool& ThreadPool::shared() {
  if (ThreadPool* pool = current.load(std::memory_order_acquire)) return *pool;
  auto* fresh = new ThreadPool(std::min(available_cpus(), kMostThreads));
  ThreadPool* earlier = nullptr;
  if (current.compare_exchange_strong(earlier, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;  // it has no threads yet
  return *earlier;
}

void ThreadPool::prepare_for_fork() {
#ifdef MASKWRIGHT_HAS_PTHREADS
  pthread_atfork(nullptr, nullptr, [] { current.store(nullptr, std::memory_order_release); });
#endif
}

void ThreadPool::run(Job& job, unsigned max_threads) {
  const unsigned threads = static_cast<unsigned>(std::min<size_t>({job.count, max_threads, size_}));
  if (threads <= 1) return work_off(job);
  {
    const std::lock_guard guard(lock_);
    start_threads(threads - 1);
    job.wanted = threads - 1;
    job.after = jobs_;
    jobs_ = &job;
  }
  for (unsigned i = 1; i < threads; ++i) wake_.notify_one();
  work_off(job);
  std::unique_lock guard(lock_);
  Job** link = &jobs_;
  while (*link != &job) link = &(*link)->after;
  *link = job.after;
  job.left.wait(guard, [&] { return job.inside == 0; });
}

void ThreadPool::work_off(Job& job) {
  for (size_t i; (i = job.next.fetch_add(1, std::memory_order_relaxed)) < job.count;) job.call(job.work, i);
}

// A thread's life.
void ThreadPool::serve() {
  std::unique_lock guard(lock_);
  while (true) {
    Job* job = jobs_;
    while (job && job->wanted == 0) job = job->after;
    if (!job) {
      wake_.wait(guard);
      continue;
    }
    --job->wanted;
    ++job->inside;
    guard.unlock();
    work_off(*job);
    guard.lock();
    if (--job->inside == 0) job->left.notify_one();
  }
}

// The lock is held. Where the system gives no more threads, those there are must do.
void ThreadPool::start_threads(unsigned wanted) {
  if (num_threads_ >= wanted) return;
  const SignalsBlocked blocked;
  try {
    for (; num_threads_ < wanted; ++num_threads_) std::thread([this] { serve(); }).detach();
  } catch (const std::system_error&) {
  }
}

}  // namespace maskwright
