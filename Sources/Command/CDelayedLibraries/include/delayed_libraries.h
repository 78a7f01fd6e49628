// Declares nothing: the functions are those of libcurl, libpq and OpenSSL.
#pragma once
