// A CUDA driver without a GPU: "device" memory is the host's, streams are done at once, and nibble's
// own kernels are functions. Solutions are host code, as in all of these tests. What it does not
// know it refuses, so that a call nobody thought of shows.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

using Result = int;
static const Result success = 0, invalid = 1, no_device = 100;
static Result sticky = success;

static uint64_t splitmix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static const uint64_t golden = 0x9e3779b97f4a7c15;

template <class T> static T value(void* const* values, int index) {
    return *static_cast<T*>(values[index]);
}

static bool none() { return getenv("CUDA_VISIBLE_DEVICES") && !*getenv("CUDA_VISIBLE_DEVICES"); }

extern "C" {
// For solutions that want their GPU to break: 700 is an illegal address.
void null_driver_break(Result error) { sticky = error; }

Result cuInit(unsigned) { return none() ? no_device : success; }
Result cuDeviceGetCount(int* count) { return *count = 1, success; }
Result cuDeviceGet(int* device, int ordinal) {
    return *device = ordinal, ordinal == 0 ? success : 101;
}
Result cuDeviceGetName(char* name, int size, int) {
    return strncpy(name, "NVIDIA H200 (null driver)", size), success;
}
Result cuDeviceGetUuid_v2(void* uuid, int) { return memset(uuid, 7, 16), success; }
Result cuDeviceGetAttribute(int* attribute, int which, int) {
    switch (which) {
    case 13: *attribute = 1980000; break;  // clock rate, kHz
    case 16: *attribute = 4; break;        // multiprocessors
    case 36: *attribute = 3201000; break;  // memory clock, kHz
    case 37: *attribute = 6144; break;     // bus width
    case 38: *attribute = 1 << 16; break;  // L2
    case 39: *attribute = 2048; break;     // threads of a multiprocessor
    case 75: *attribute = 9; break;
    case 76: *attribute = 0; break;
    case 108: *attribute = 1 << 15; break; // persisting L2
    default: return invalid;
    }
    return success;
}
Result cuDevicePrimaryCtxRetain(void** context, int) { return *context = &sticky, success; }
Result cuCtxSetCurrent(void*) { return success; }
Result cuCtxSetLimit(int limit, size_t) { return limit == 6 ? success : invalid; }
Result cuCtxResetPersistingL2Cache() { return success; }
Result cuCtxSynchronize() { return sticky; }

Result cuMemGetInfo_v2(size_t* free, size_t* total) {
    return *free = *total = size_t(4) << 30, success;
}
Result cuMemAlloc_v2(uint64_t* address, size_t bytes) {
    return *address = reinterpret_cast<uint64_t>(aligned_alloc(4096, (bytes + 4095) & ~size_t(4095))),
           success;
}
Result cuMemFree_v2(uint64_t address) {
    return free(reinterpret_cast<void*>(address)), success;
}
Result cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
    return memcpy(reinterpret_cast<void*>(to), from, bytes), sticky;
}
Result cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
    return memcpy(to, reinterpret_cast<void*>(from), bytes), sticky;
}
Result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
    return memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes), sticky;
}
Result cuMemsetD8_v2(uint64_t to, unsigned char byte, size_t bytes) {
    return memset(reinterpret_cast<void*>(to), byte, bytes), sticky;
}

Result cuModuleLoadData(void** module, const void*) { return *module = &sticky, success; }
Result cuModuleGetFunction(void** function, void*, const char* name) {
    return *function = strdup(name), success;
}
Result cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, void*, void** values, void**) {
    const std::string name = static_cast<char*>(function);
    const auto words = [&](int index) {
        return reinterpret_cast<uint64_t*>(value<uint64_t>(values, index));
    };
    if (name == "mix") {
        struct Piece { uint64_t low, high; };
        const auto piece = [&](int index) { return reinterpret_cast<Piece*>(words(index)); };
        const uint32_t pieces = value<uint32_t>(values, 3), unit = value<uint32_t>(values, 4);
        for (uint32_t i = 0; i < pieces; ++i) {
            const uint64_t choice = splitmix((i / unit + 1) * golden + value<uint64_t>(values, 5));
            piece(0)[i] = piece(choice & 1 ? 2 : 1)[i];
        }
    } else if (name == "poison") {
        for (uint64_t i = 0; i < value<uint64_t>(values, 1); ++i)
            words(0)[i] = splitmix((i + 1) * golden + value<uint64_t>(values, 2));
    } else if (name == "fingerprint") {
        for (uint64_t i = 0; i < value<uint64_t>(values, 1); ++i)
            *words(3) += splitmix(((i + 1) * golden + value<uint64_t>(values, 2)) ^ words(0)[i]);
    } else if (name == "spin") {
        words(0)[0] = 1000, words(0)[1] = 0, words(0)[2] = 2000, words(0)[3] = 1980;
    } else if (name != "write_tiles" && name != "read_tiles") {
        return invalid;
    }
    return sticky;
}

// Every call takes 10 us: how long the host takes depends on what else runs there. What a solution
// says it has hidden is over later, and seen by who waits for everything.
static float hidden = 0, took = 0.01f;
void null_driver_hide(float milliseconds) { hidden = milliseconds; }
void null_driver_take(float milliseconds) { took = milliseconds; }
struct Event { bool behind_everything; };
static Event events[16];
static unsigned made = 0;
static bool waits = false;
Result cuCtxRecordEvent(void*, void*) { return sticky; }
Result cuStreamWaitEvent(void*, void*, unsigned) { return waits = true, sticky; }
Result cuEventCreate(void** event, unsigned) { return *event = &events[made++ % 16], success; }
Result cuEventRecord(void* event, void*) {
    return static_cast<Event*>(event)->behind_everything = waits, waits = false, sticky;
}
Result cuEventDestroy_v2(void*) { return success; }
Result cuEventElapsedTime_v2(float* milliseconds, void*, void* end) {
    return *milliseconds = static_cast<Event*>(end)->behind_everything ? hidden : took, success;
}

Result cuGetErrorName(Result error, const char** name) {
    return *name = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OF_A_KIND", success;
}
Result cuGetErrorString(Result, const char** text) { return *text = "by the null driver", success; }
}
