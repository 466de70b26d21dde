#include "program.h"

#include "family.h"
#include "linker.h"
#include "work.h"

namespace maskwright {

size_t Program::instance_bytes() const {
  size_t bytes = 0;
  for (const Family* family : families) bytes += family->instance_bytes();
  return bytes;
}

size_t Program::num_instances() const {
  size_t count = 0;
  for (const Family* family : families) count += family->num_linked();
  return count;
}

Program link(const GrammarIr& ir, RuleStore& store) {
  const Work::Scope scope;
  return Linker(ir, store).link();
}

}  // namespace maskwright
