// A child that outlives the solution and would go on for a quarter of an hour. It leaves its
// process id behind, in the folder that its parent may write.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <unistd.h>

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {
    if (fork() == 0) {
        setsid();
        printf("child %d\n", (int)getpid());
        fflush(stdout);
        sleep(900);
        _exit(0);
    }
    sleep(1);
}
