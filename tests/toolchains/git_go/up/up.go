package up

const Version = "version 1"
