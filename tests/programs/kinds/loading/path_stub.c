/* Stands for the driver while a program is linked that shall need it by its path: the names, and nothing in
 * them. */
#define STUB(name)   \
    void name(void); \
    void name(void) {}

STUB(cuInit)
STUB(cuDeviceTotalMem_v2)
STUB(cuDevicePrimaryCtxRetain)
STUB(cuCtxSetCurrent)
STUB(cuMemGetInfo_v2)
STUB(cuMemAlloc_v2)
STUB(cuMemAllocPitch_v2)
STUB(cuArrayCreate_v2)
STUB(cuMemAllocAsync)
STUB(cuArray3DCreate_v2)
STUB(cuMipmappedArrayCreate)
STUB(cuMemPoolCreate)
STUB(cuMemAllocFromPoolAsync)
STUB(cuMemCreate)
STUB(cuGraphCreate)
STUB(cuGraphAddMemAllocNode)
STUB(cuGraphInstantiateWithFlags)
STUB(cuGraphLaunch)
STUB(cuMemAllocManaged)
STUB(cuMemFree_v2)
