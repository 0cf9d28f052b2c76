# Compiles the program's own Eigen with different options than weft's.
find_package(Eigen3 REQUIRED NO_MODULE)
target_link_libraries(my_program PRIVATE Eigen3::Eigen)
target_compile_definitions(my_program PRIVATE EIGEN_DONT_VECTORIZE EIGEN_MAX_ALIGN_BYTES=0)
target_compile_options(my_program PRIVATE -O1 -Wall -Wextra -Wpedantic -Werror)
