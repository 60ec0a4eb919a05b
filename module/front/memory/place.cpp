#include "module/front/memory/place.hpp"

#include "module/front/memory/current_context.hpp"

namespace cgpu::front {

Place place_of_current(const char* what) {
    Place place;
    place.route = session().route();
    if (place.route == Route::broken) place.refusal = kSystemNotReady;
    if (place.route != Route::managed) return place;
    place.context = current_context();
    const bool foreign = place.context != nullptr && place.context->gpu < 0;
    if (foreign) {
        session().link().notice(wire::Event::foreign_device_refused, 0, what);
        place.route = Route::broken;
        place.refusal = kInvalidDevice;
    } else if (place.context == nullptr || !session().isolates(place.context->gpu)) {
        place.route = Route::pass;  // without a context the driver says what is wrong
    }
    return place;
}

}  // namespace cgpu::front
