/* How far from pi is an estimate from 10,000 points in a square? Points anywhere, or one in each cell of a grid.
   cc -O2 -o pi pi.c -lm */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

/* A number from [0, 1): Steele, Lea and Flood's SplitMix64. */
static double uniform(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: pi anywhere|grid SEED\n");
        return 2;
    }
    int grid = strcmp(words[1], "grid") == 0, side = 100, inside = 0;
    state = strtoull(words[2], NULL, 10);
    for (int cell = 0; cell < side * side; cell++) {
        double x = uniform(), y = uniform();
        if (grid) {
            x = (cell % side + x) / side;
            y = (cell / side + y) / side;
        }
        inside += x * x + y * y < 1;
    }
    printf("{\"error\": %.17g}\n", fabs(4.0 * inside / (side * side) - acos(-1)));
}
