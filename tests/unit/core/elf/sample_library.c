/* What fit_exports_test hides a part of; and, linked the usual way, a file that check_portable.py must
 * refuse. */
int cuOne(void);
int cuTwo(void);
int cuThree(void);
int cuOne(void) { return 1; }
int cuTwo(void) { return 2; }
int cuThree(void) { return cuTwo() + 30; }
