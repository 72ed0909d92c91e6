// SPDX-License-Identifier: MIT
// Every rank says where it is and what all of them add up to, so that a rank that is alone cannot look like
// one of many.
#include <mpi.h>
#include <stdio.h>

int main(int count, char** arguments) {
    int rank = 0;
    int ranks = 0;
    int sum = 0;
    int length = 0;
    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Get_processor_name(host, &length);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d on %s, sum %d\n", rank, ranks, host, sum);
    MPI_Finalize();
    return 0;
}
