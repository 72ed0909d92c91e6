// SPDX-License-Identifier: MIT
// Signatures that ssh-agent of OpenSSH 9.2 made with keys of ssh-keygen over the bytes 0 to 31, in base64.
// The private keys are not kept.
#pragma once

#include <string_view>

namespace ssh_agent {

struct Vector {
    std::string_view name, key, signature;
};

inline constexpr Vector kVectors[] = {
    {"ed25519", "AAAAC3NzaC1lZDI1NTE5AAAAIFi4aOnrThY7jwEdgV2KbdqSnEkRfBR5ry7YJmT3UNOk",
     "AAAAC3NzaC1lZDI1NTE5AAAAQMLLqgCK2039O9d7552DsZDUl06Spxz3e4b3qItt3tvpLMD+NSmhgzTLVA+WEyYHrS"
     "KXH1L2emP/wzua2KSLvAc="},
    {"p256",
     "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBIthEpAEPs41t/eRTu/oHwzVDqB2m53/5qKjQW"
     "HCi7uhP/ctJfCvK2/l+MeaBhvoimEukKaF2PvTjrMJCNX2eJM=",
     "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAABJAAAAIGDKG84g0nZtXvutdDsrWfDY4nscVTTjhZhdYXKKiEfQAAAAIQ"
     "DrKXFzrIKHqolXMOectv/rDjeF2yWrTxwo5rX/X02hmQ=="},
    {"p384",
     "AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBH9VDdJbF/QMTAmAobMQJD6+c9vAEY8Z5enJem"
     "MMKjrW3J71Pz9psxRy18t2zIZ4/2R5IZgYyHan8+CfLZXPjquwR/cWFBCDspOCgrhqq4GPrF3QtrbwXjw8g02J0FJa"
     "Xw==",
     "AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAABoAAAAMEHs3K3bWwe0bGAb1KenshTVwp9wjk95Z4Qzi6psgdlcVOQzOO"
     "Cs+9dCVzUawNFZOQAAADBq9S/Xmrf1dgUFMUJaYj3NhqItV52XSQ7CbLZWcVncT3r/+cafoes7CycKxjEonJI="},
    {"p521",
     "AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBADa1yu/Vw+ZHmX6Lp5Kxknu5st8aOhsLDBZP+"
     "SKrI6369dfFiDOD98TPz8NgmZSNKKQvAp0yT60A878yNolkeL5AwABjvvLlyQoyYvMmXzZenK1n1ZMbLBVLlOqVaad"
     "t47242jb2e1Ge7uqw01wgo6Wvo7O+WdzRa68DsZWreLM/YmfKQ==",
     "AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAACLAAAAQgEtj34mqDYS56EffiYGw+HFr/ABEPRXbXxK8DhiZT2ECjiUJM"
     "vUMmBo4+NJegYa5Uvia6W9qfuYigLzSrZ6xpYSvgAAAEFF4OjDhDl4ZJkBYFUwprm6l0dkxr8AuqorDJETUgcdHXQp"
     "7FPURHIwa2JZvGU9d8nk1gc4qVceN7u5OBKMoUiG0w=="},
    {"rsa256",
     "AAAAB3NzaC1yc2EAAAADAQABAAABAQC93/ZiAWRZ1IFN2oiXiEp4ncvTGvnwACwmCg6U1HzcjFMkySK4PVacRk6ujC"
     "Ba75bGEH74Y4kSI22F1IXbDM4enHzFLOr9bo5JuHBQmIbVP7jduIiNeMLz65B+zAcl8wQEczrKmk0rxnYnlM3vDjRN"
     "YTs9kgzc7weZ/8OMAxcfoWcWrSeq5gvTQJ/DOTeSizz7fShvwFiWBgi4ZZJn6hK6X6XPehe6NkhlQ67zrIas4BNN5h"
     "qXRsVG+99nowruTIHGJPCdBvCihG50w69pT8hkICY+O3enzl0IQOPuFYyTdeoYm7hCc6FXxc66/+25I8r9P5B9bbMM"
     "9G0FE8I91AZB",
     "AAAADHJzYS1zaGEyLTI1NgAAAQCdOHj6XN336ZUq6SSmIK4Pj7by0QykYec8EjtU7agYkxLMqraLbeusOlJLJ5F+EL"
     "hHBSjYlH9iXq6rrBkvCt4VE4pg6O40nBK12PkBnmQ1d+A3rGR1ycnkMaklHacMW/X6s30bc3E+XhsYNk02l9RBdWgE"
     "a6ggqJccpUbRQFdFtKEuv1OxujnPCFjH5c55bgmwIZ1i+RUSgKc3kc1oSCKnVMmOx/lsoI6s3nuV9ZcQZYBMhM0LTc"
     "cAwKr0WzDP/gNDxa3+6S+ALu+eGcpITo3coFWWHWLyRqevx/TW2ABdpaPu0rAkfMsTYXWVTebw0DXLb6/G0ja+3UIg"
     "6fffTjgL"},
    {"rsa512",
     "AAAAB3NzaC1yc2EAAAADAQABAAABAQDVV5RlYHa1tOQNcdacbvDplivSQzjgs5FcYXemY76Ka70xpPTzyfIyNBYlKw"
     "wKvgybanzgh3uPhDVVGVNBMwz85w/Dvzg93l4DLpJ+bzV8BGgIeiyLnznIqOLgy4VSJQOitYtJSq75XUnY4BTOIkLQ"
     "rsaOFQsjwfMR/v+jo3/NNcaZKT9fnJwPow3U2vQmzbSfR7wcPWFEuqmGW8aQ5QFnEp6WUbvjACbB+NV1cO7rAeC4Kx"
     "7Sytla+4R0ydNKbmfZI9HE6z5mStdS2NHD1XYSjtW0T13EUyTDu2D5XQGqs59CTVwMAfvE+NSP7HBBCJGFh/5r0rjc"
     "4Ea/8jNLnjnd",
     "AAAADHJzYS1zaGEyLTUxMgAAAQDAo7fcWApYsx9a3QdCvIivOdFknAske14KhqOFvw8Zx7ADtU+D/ybdB0fJByHUt4"
     "iG1LoxAU9JwSMSPQ7BQG7jcgLxZ21QgJGcV29eAPzM/STe88r7f7s3SHyDoVpr5FDlp1mKmU5Bo8Twc+H64C+2447l"
     "/WnO5EcLezfH48tGQOhK5JK9JmemyKHRBoboekYJXgagUiyVbMre1CPhl5U7ynMsGDLZxZxgqVbEwDlCNZh5ABLrOY"
     "VWDoZ1zNTibD7za3fVVOFKU7wIwFp69UH5EuMalT7FswotoxUwKIFxDAyoWHOzjU9vUPJYa7Lo7ysKcz+b+fww94Ye"
     "8U3ePYdo"},
};

}  // namespace ssh_agent
