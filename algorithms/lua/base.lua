local byte, char = string.byte, string.char
local MAX_TIME = 9007199254740991
local CLOCK_TOLERANCE = 1000000
