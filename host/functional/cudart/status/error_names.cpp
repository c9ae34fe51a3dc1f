// Names of the CUDA 13 runtime's statuses, and what they mean.
#include "host/functional/cudart/status/error_names.h"

#include <algorithm>
#include <iterator>

namespace nearwarp::cudart {

namespace {

struct ErrorName {
  int status;
  const char* name;
  const char* text;  ///< null for those that the library never returns
};

constexpr ErrorName kNames[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {4, "cudaErrorCudartUnloading", nullptr},
    {5, "cudaErrorProfilerDisabled", nullptr},
    {6, "cudaErrorProfilerNotInitialized", nullptr},
    {7, "cudaErrorProfilerAlreadyStarted", nullptr},
    {8, "cudaErrorProfilerAlreadyStopped", nullptr},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {16, "cudaErrorInvalidHostPointer", nullptr},
    {17, "cudaErrorInvalidDevicePointer", nullptr},
    {18, "cudaErrorInvalidTexture", nullptr},
    {19, "cudaErrorInvalidTextureBinding", nullptr},
    {20, "cudaErrorInvalidChannelDescriptor", nullptr},
    {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction"},
    {22, "cudaErrorAddressOfConstant", nullptr},
    {23, "cudaErrorTextureFetchFailed", nullptr},
    {24, "cudaErrorTextureNotBound", nullptr},
    {25, "cudaErrorSynchronizationError", nullptr},
    {26, "cudaErrorInvalidFilterSetting", nullptr},
    {27, "cudaErrorInvalidNormSetting", nullptr},
    {28, "cudaErrorMixedDeviceExecution", nullptr},
    {31, "cudaErrorNotYetImplemented", nullptr},
    {32, "cudaErrorMemoryValueTooLarge", nullptr},
    {34, "cudaErrorStubLibrary", nullptr},
    {35, "cudaErrorInsufficientDriver", nullptr},
    {36, "cudaErrorCallRequiresNewerDriver", nullptr},
    {37, "cudaErrorInvalidSurface", nullptr},
    {43, "cudaErrorDuplicateVariableName", nullptr},
    {44, "cudaErrorDuplicateTextureName", nullptr},
    {45, "cudaErrorDuplicateSurfaceName", nullptr},
    {46, "cudaErrorDevicesUnavailable", "the device is busy or unavailable"},
    {49, "cudaErrorIncompatibleDriverContext", nullptr},
    {52, "cudaErrorMissingConfiguration", nullptr},
    {53, "cudaErrorPriorLaunchFailure", nullptr},
    {65, "cudaErrorLaunchMaxDepthExceeded", "launch would exceed maximum depth of nested launches"},
    {66, "cudaErrorLaunchFileScopedTex", nullptr},
    {67, "cudaErrorLaunchFileScopedSurf", nullptr},
    {68, "cudaErrorSyncDepthExceeded", nullptr},
    {69, "cudaErrorLaunchPendingCountExceeded",
     "launch would exceed the limit of pending launches"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {100, "cudaErrorNoDevice", "there is no CUDA device"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {102, "cudaErrorDeviceNotLicensed", nullptr},
    {103, "cudaErrorSoftwareValidityNotEstablished", nullptr},
    {127, "cudaErrorStartupFailure", nullptr},
    {200, "cudaErrorInvalidKernelImage", "the kernel image is invalid"},
    {201, "cudaErrorDeviceUninitialized", nullptr},
    {205, "cudaErrorMapBufferObjectFailed", nullptr},
    {206, "cudaErrorUnmapBufferObjectFailed", nullptr},
    {207, "cudaErrorArrayIsMapped", nullptr},
    {208, "cudaErrorAlreadyMapped", nullptr},
    {209, "cudaErrorNoKernelImageForDevice",
     "no PTX or machine code in the application suits the device"},
    {210, "cudaErrorAlreadyAcquired", nullptr},
    {211, "cudaErrorNotMapped", nullptr},
    {212, "cudaErrorNotMappedAsArray", nullptr},
    {213, "cudaErrorNotMappedAsPointer", nullptr},
    {214, "cudaErrorECCUncorrectable", nullptr},
    {215, "cudaErrorUnsupportedLimit", nullptr},
    {216, "cudaErrorDeviceAlreadyInUse", nullptr},
    {217, "cudaErrorPeerAccessUnsupported", "peer access is not supported"},
    {218, "cudaErrorInvalidPtx", "the PTX cannot be compiled"},
    {219, "cudaErrorInvalidGraphicsContext", nullptr},
    {220, "cudaErrorNvlinkUncorrectable", nullptr},
    {221, "cudaErrorJitCompilerNotFound", nullptr},
    {222, "cudaErrorUnsupportedPtxVersion", "the PTX is of an unsupported version"},
    {223, "cudaErrorJitCompilationDisabled", nullptr},
    {224, "cudaErrorUnsupportedExecAffinity", nullptr},
    {225, "cudaErrorUnsupportedDevSideSync", nullptr},
    {226, "cudaErrorContained", nullptr},
    {300, "cudaErrorInvalidSource", nullptr},
    {301, "cudaErrorFileNotFound", "file not found"},
    {302, "cudaErrorSharedObjectSymbolNotFound", nullptr},
    {303, "cudaErrorSharedObjectInitFailed", nullptr},
    {304, "cudaErrorOperatingSystem", nullptr},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {401, "cudaErrorIllegalState", nullptr},
    {402, "cudaErrorLossyQuery", nullptr},
    {500, "cudaErrorSymbolNotFound", "named symbol not found"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {702, "cudaErrorLaunchTimeout", nullptr},
    {703, "cudaErrorLaunchIncompatibleTexturing", nullptr},
    {704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {708, "cudaErrorSetOnActiveProcess", nullptr},
    {709, "cudaErrorContextIsDestroyed", nullptr},
    {710, "cudaErrorAssert", "device-side assert triggered"},
    {711, "cudaErrorTooManyPeers", nullptr},
    {712, "cudaErrorHostMemoryAlreadyRegistered", "the memory is registered already"},
    {713, "cudaErrorHostMemoryNotRegistered", "the memory has not been registered"},
    {714, "cudaErrorHardwareStackError", nullptr},
    {715, "cudaErrorIllegalInstruction", nullptr},
    {716, "cudaErrorMisalignedAddress", "misaligned address"},
    {717, "cudaErrorInvalidAddressSpace", nullptr},
    {718, "cudaErrorInvalidPc", nullptr},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {721, "cudaErrorTensorMemoryLeak", nullptr},
    {800, "cudaErrorNotPermitted", nullptr},
    {801, "cudaErrorNotSupported", "operation not supported"},
    {802, "cudaErrorSystemNotReady", nullptr},
    {803, "cudaErrorSystemDriverMismatch", nullptr},
    {804, "cudaErrorCompatNotSupportedOnDevice", nullptr},
    {805, "cudaErrorMpsConnectionFailed", nullptr},
    {806, "cudaErrorMpsRpcFailure", nullptr},
    {807, "cudaErrorMpsServerNotReady", nullptr},
    {808, "cudaErrorMpsMaxClientsReached", nullptr},
    {809, "cudaErrorMpsMaxConnectionsReached", nullptr},
    {810, "cudaErrorMpsClientTerminated", nullptr},
    {811, "cudaErrorCdpNotSupported", nullptr},
    {812, "cudaErrorCdpVersionMismatch", nullptr},
    {900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {901, "cudaErrorStreamCaptureInvalidated", nullptr},
    {902, "cudaErrorStreamCaptureMerge", nullptr},
    {903, "cudaErrorStreamCaptureUnmatched", nullptr},
    {904, "cudaErrorStreamCaptureUnjoined", nullptr},
    {905, "cudaErrorStreamCaptureIsolation", nullptr},
    {906, "cudaErrorStreamCaptureImplicit", nullptr},
    {907, "cudaErrorCapturedEvent", nullptr},
    {908, "cudaErrorStreamCaptureWrongThread", nullptr},
    {909, "cudaErrorTimeout", nullptr},
    {910, "cudaErrorGraphExecUpdateFailure", nullptr},
    {911, "cudaErrorExternalDevice", nullptr},
    {912, "cudaErrorInvalidClusterSize", "invalid cluster size"},
    {913, "cudaErrorFunctionNotLoaded", nullptr},
    {914, "cudaErrorInvalidResourceType", nullptr},
    {915, "cudaErrorInvalidResourceConfiguration", nullptr},
    {999, "cudaErrorUnknown", "unknown error"},
};

const ErrorName* find(int status) {
  const auto* it = std::lower_bound(std::begin(kNames), std::end(kNames), status,
                                    [](const ErrorName& e, int value) { return e.status < value; });
  return it != std::end(kNames) && it->status == status ? it : nullptr;
}

}  // namespace

const char* error_name(int status) {
  const ErrorName* e = find(status);
  return e == nullptr ? "unrecognized error code" : e->name;
}

const char* error_text(int status) {
  const ErrorName* e = find(status);
  if (e == nullptr) return "unrecognized error code";
  return e->text == nullptr ? e->name : e->text;
}

}  // namespace nearwarp::cudart
