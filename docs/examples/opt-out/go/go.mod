module example.org/opt-out

go 1.18

require github.com/twmb/franz-go v1.15.4
