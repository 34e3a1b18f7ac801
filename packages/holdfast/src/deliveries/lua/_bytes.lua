-- A script that has handled more than this handles no more: a body costs the server up to 10 µs a kB.
local MOST_BYTES = 262144
