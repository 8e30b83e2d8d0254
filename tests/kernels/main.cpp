#include "test.hpp"

int main(int argc, char** argv) {
  return ge::test::run_all(argc, argv);
}
