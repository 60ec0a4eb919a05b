cgpu_unit_test(core_queue_test ONE_THREAD OPTIMIZED LONG_RUNS
  SOURCES queue/could_fit_test.cpp queue/explain_test.cpp queue/forecast_test.cpp queue/next_backfill_test.cpp queue/next_cost_test.cpp queue/next_limits_test.cpp queue/next_test.cpp queue/order_test.cpp
          queue/queue_property_test.cpp queue/queue_test.cpp queue/queue_world.cpp
  LIBS cgpu_core)
