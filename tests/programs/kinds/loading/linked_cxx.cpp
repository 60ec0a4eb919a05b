// A C++ program that is linked with the driver and uses it before main, in the constructor of a global
// object.
#include "tests/programs/kinds/loading/linked.h"

namespace {

struct Early {
    Early() {
        expect_end();
        find_driver(linked_function);
        begin(0);
    }
};
const Early early;

}  // namespace

int main() {
    take_all();
    hold();
    return 0;
}
