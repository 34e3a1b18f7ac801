--[[
The handle of a delivery: "<token>:<number>:<attempt>:<processId>", in lanes with ":<lane>".
]]
local HANDLE = '^(%d+):(%d+):(%d+):([^:]*):?(.*)$'
