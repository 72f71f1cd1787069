// CUDA_VISIBLE_DEVICES: which devices a program sees, and in which order.
//
// CUDA C++ Programming Guide, "CUDA Environment Variables": a list of numbers, or of UUIDs or the
// beginnings of UUIDs that tell the device; only the listed devices exist, in the order of the
// list; the first invalid entry ends the list.  What the guide leaves open is as two H100 answered
// (driver of CUDA 13): numbers are read as by strtol() (so " 1", "+1" and "1x" are 1, and "x" is
// invalid), the first entry decides whether all are numbers or UUIDs, and a device that is listed
// twice makes every call fail.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

namespace warpcheck::cudart {

struct VisibleDevices {
  // Their numbers in the system.  Empty if the list is not valid.
  std::vector<unsigned> numbers;
  cudaError_t error = cudaSuccess;  // what every call of the program returns
};

// The text that stands for a device: "GPU-00000000-0000-0000-0000-000000000001".
std::string uuid_text(unsigned number);

//   list: the value of the variable; null: it is not set
//   count: the number of devices of the system
VisibleDevices visible_devices(const char* list, unsigned count);

// The devices that this process sees, by its environment, of those that it was given.
VisibleDevices devices_of_process();
// Says why it sees none.
std::string text_of_no_device();

}  // namespace warpcheck::cudart
