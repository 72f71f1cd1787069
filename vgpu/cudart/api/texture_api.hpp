// Creates texture objects for the functions of both APIs.
#pragma once

#include <cuda_runtime_api.h>

namespace warpcheck::cudart {

// Returns errors like cudaCreateTextureObject().
//   checks_filter: the filter must fit the elements (texture_objects.hpp), as the runtime requires
cudaError_t create_texture_object(cudaTextureObject_t* handle, const cudaResourceDesc* resource,
                                  const cudaTextureDesc* texture, const cudaResourceViewDesc* view,
                                  bool checks_filter);

}  // namespace warpcheck::cudart
