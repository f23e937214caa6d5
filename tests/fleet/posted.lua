-- The same as POSTs.
local n = 0
request = function()
    n = n + 1
    return wrk.format("POST", "/v1/encodings/sinusoidal", {["Content-Type"] = "application/json"},
        '{"length": 4, "dim": 8, "offset": ' .. n % 2048 .. '}')
end
