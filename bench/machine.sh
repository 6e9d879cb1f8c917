# machine.sh: what every file of results says about where it was measured.  Sourced by
# the scripts of bench/.

cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -1)
cpu=${cpu:-$(uname -m)}

# machine: date, system, processor, memory and load, as a comment's line.
machine()
{
	echo "# $(date -u +%Y-%m-%dT%H:%MZ), $(uname -srm), $cpu, $(nproc) cores," \
		"$(awk '/^MemTotal/ { printf "%.0f GB", $2 / 1e6 }' /proc/meminfo), load $(cut -d' ' -f1 /proc/loadavg)"
}

# cpu_name: the processor, as a part of a file's name.
cpu_name()
{
	echo "$cpu" | tr -cs 'A-Za-z0-9\n' - | sed 's/-*$//'
}
