Binput8JJ
ÌlÉ