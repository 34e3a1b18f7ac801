-- For how long a waiter is silent at most while its process works, as a share of its ttl: it asks every third.
local SIGN_SHARE = 0.4
