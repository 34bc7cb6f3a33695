# What `hipgraph-shmem build-rocshmem` compiles on the user's machine, and the headers that the user's
# own kernels include: both are part of the wheel.
file(GLOB SHIM_SOURCES ${CMAKE_CURRENT_LIST_DIR}/rocshmem_*.cpp ${CMAKE_CURRENT_LIST_DIR}/*.h)
install(FILES ${SHIM_SOURCES} ${CMAKE_CURRENT_LIST_DIR}/exports.map
        DESTINATION hipgraph_shmem/shmem_sources)
install(DIRECTORY ${CMAKE_CURRENT_LIST_DIR}/include/ DESTINATION hipgraph_shmem/include)
