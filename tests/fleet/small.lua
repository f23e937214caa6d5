-- Small tables of 2048 kinds, in turns.
local n = 0
request = function()
    n = n + 1
    return wrk.format("GET", "/v1/encodings/sinusoidal?length=4&dim=8&format=raw&offset=" .. n % 2048)
end
