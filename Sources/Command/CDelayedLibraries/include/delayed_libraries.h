// Declares nothing: the functions are those of libcurl and libpq.
#pragma once
