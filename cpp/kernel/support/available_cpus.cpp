#include "support/available_cpus.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

namespace maskwright {
namespace {

constexpr unsigned kNoLimit = std::numeric_limits<unsigned>::max();

unsigned affinity() {
#ifdef __linux__
  constexpr size_t kMostCpus = 1 << 14;
  std::vector<cpu_set_t> set(kMostCpus / CPU_SETSIZE);
  const size_t bytes = set.size() * sizeof(cpu_set_t);
  if (sched_getaffinity(0, bytes, set.data()) == 0)
    return std::max(1u, static_cast<unsigned>(CPU_COUNT_S(bytes, set.data())));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

unsigned cpus_of(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return kNoLimit;
  return static_cast<unsigned>(std::clamp(std::ceil(quota / period), 1.0, double{1 << 20}));
}

double read_number(const std::string& path) {
  std::ifstream file(path);
  double value;
  return file >> value ? value : -1;
}

// "200000 100000", or "max 100000".
unsigned quota_v2(const std::string& directory) {
  std::ifstream file(directory + "/cpu.max");
  std::string quota;
  double period;
  if (!(file >> quota >> period) || quota == "max") return kNoLimit;
  return cpus_of(std::strtod(quota.c_str(), nullptr), period);
}

unsigned quota_v1(const std::string& directory) {
  return cpus_of(read_number(directory + "/cpu.cfs_quota_us"), read_number(directory + "/cpu.cfs_period_us"));
}

bool has_item(const std::string& list, const std::string& wanted) {
  std::istringstream items(list);
  for (std::string item; std::getline(items, item, ',');)
    if (item == wanted) return true;
  return false;
}

// The paths of the process's groups, "hierarchy:controllers:path" a line; version 2 has no controllers.
struct Groups {
  std::string v1, v2;
};

Groups read_groups(const std::string& file_root) {
  Groups out;
  std::ifstream file(file_root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty()) out.v2 = line.substr(second + 1);
    if (has_item(controllers, "cpu")) out.v1 = line.substr(second + 1);
  }
  return out;
}

// The smallest quota from the group's own directory up to where the hierarchy is mounted. A mount may show only the
// part below `mounted`, as in a container.
template <class Quota>
unsigned smallest_quota(const std::string& mount_point, const std::string& mounted, std::string group, Quota quota) {
  if (mounted != "/") group = group.compare(0, mounted.size(), mounted) == 0 ? group.substr(mounted.size()) : "";
  unsigned least = kNoLimit;
  while (!group.empty() && group != "/") {
    least = std::min(least, quota(mount_point + group));
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
  return std::min(least, quota(mount_point));
}

// A line of mountinfo: id parent device root mount-point options [tags...] - type source super-options.
unsigned quota_by_groups(const std::string& file_root) {
  const Groups groups = read_groups(file_root);
  unsigned least = kNoLimit;
  std::ifstream file(file_root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash)), after(line.substr(dash + 3));
    std::string skipped, root, mount_point, type, source, options;
    before >> skipped >> skipped >> skipped >> root >> mount_point;
    after >> type >> source >> options;
    if (type == "cgroup2")
      least = std::min(least, smallest_quota(file_root + mount_point, root, groups.v2, quota_v2));
    else if (type == "cgroup" && has_item(options, "cpu"))
      least = std::min(least, smallest_quota(file_root + mount_point, root, groups.v1, quota_v1));
  }
  return least;
}

}  // namespace

unsigned available_cpus(const std::string& file_root) {
  return std::min(affinity(), quota_by_groups(file_root));
}

}  // namespace maskwright
