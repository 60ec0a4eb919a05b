/* Its constructor asks the program that loads it what to do. */
void front_test_while_loading(void);

static void __attribute__((constructor)) loaded(void) { front_test_while_loading(); }
