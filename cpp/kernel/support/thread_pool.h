// The kernel's threads: one pool a process, started when first needed, used by every batch.
//
//   ThreadPool::shared().run(rows.size(), max_threads, [&](size_t i) { fill(rows[i]); });
//
// The caller takes part, so a call ends even where no thread can be had, and calls from several threads share the pool.
// Indices are handed out one by one, so that one expensive item does not hold up the others. A call allocates nothing.
// The threads block all signals and know nothing of Python. They are never joined: at exit they lie still. A child of
// fork has none of the parent's threads: it forgets the pool and makes a new one when it needs it. Cost: about 2 us to
// wake a thread, which begins some 10 to 50 us later. Tested by tests/kernel/test_thread_pool.py,
// tests/contract/test_batch.py.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <type_traits>

namespace maskwright {

class ThreadPool {
 public:
  static ThreadPool& shared();
  // To be called once, before any fork.
  static void prepare_for_fork();

  // The most threads that take part in a call, the caller's included: what available_cpus() said when the pool was
  // made.
  unsigned size() const { return size_; }

  // Calls work(i) for every i below `count`, each once, on up to `max_threads` threads. `work` must not throw.
  template <class Work>
  void run(size_t count, unsigned max_threads, Work&& work) {
    Job job(
        count, [](void* target, size_t index) { (*static_cast<std::remove_reference_t<Work>*>(target))(index); },
        &work);
    run(job, max_threads);
  }

 private:
  struct Job {
    Job(size_t size, void (*function)(void*, size_t), void* target) : count(size), call(function), work(target) {}
    const size_t count;
    void (*const call)(void*, size_t);
    void* const work;
    std::atomic<size_t> next{0};
    // Guarded by the pool's lock.
    unsigned wanted = 0;  // threads that may still join
    unsigned inside = 0;  // threads that joined and have not left
    Job* after = nullptr;
    std::condition_variable left;
  };
  explicit ThreadPool(unsigned size) : size_(size) {}
  void run(Job& job, unsigned max_threads);
  static void work_off(Job& job);
  void serve();
  void start_threads(unsigned wanted);

  const unsigned size_;
  std::mutex lock_;
  std::condition_variable wake_;
  Job* jobs_ = nullptr;
  unsigned num_threads_ = 0;
};

}  // namespace maskwright
