cgpu_unit_test(core_model_test ONE_THREAD
  SOURCES model/gpu_word_test.cpp model/instance_id_test.cpp model/instance_word_test.cpp model/node_gpus_test.cpp model/node_instances_test.cpp
          model/instances_test.cpp model/node_kept_test.cpp model/node_property_test.cpp model/node_restore_test.cpp model/node_revert_test.cpp model/node_take_up_test.cpp model/node_until_reboot_test.cpp model/occupancy_test.cpp model/printable_test.cpp model/quote_test.cpp model/similar_test.cpp model/size_test.cpp model/transitions_test.cpp
          model/utf8_test.cpp model/uuid_test.cpp
  LIBS cgpu_core)
