/**
 * Shell script that makes a root of its own in fresh namespaces and runs Python in it: read-only system folders, one small writable
 * `/tmp` in memory, no `/proc`, no home, no privileges. Arguments: an empty folder, the interpreter, its prefix ('' when under `/usr`), the
 * user to become ('' for that of the user namespace), the limits of `prlimit`, and the driver's token. The program comes on standard input.
 */
export const sandboxScript = `set -eu
root=$1 python=$2 prefix=$3 user=$4 limits=$5 token=$6 driver=$7 tmp_bytes=$8
mount --make-rprivate /
mount -t tmpfs -o size=1m,mode=755,nosuid,nodev tmpfs "$root"
cd "$root"
mkdir usr tmp dev
readonly_copy() {
  mount --bind "$1" ".$1"
  mount -o remount,ro,bind,nosuid,nodev ".$1"
}
readonly_copy /usr
for link in bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$link" ]; then ln -s "$(readlink "/$link")" "$link"
  elif [ -d "/$link" ]; then mkdir "$link"; readonly_copy "/$link"; fi
done
if [ -n "$prefix" ]; then mkdir -p ".$prefix"; readonly_copy "$prefix"; fi
for device in null zero urandom; do
  : > "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mount -t tmpfs -o "size=$tmp_bytes,nr_inodes=1024,mode=1777,nosuid,nodev" tmpfs tmp
cat > tmp/program.py
mount -o remount,ro,bind .
echo ready
code=0
chroot . /usr/bin/setpriv $user --bounding-set=-all --inh-caps=-all --no-new-privs \\
  /usr/bin/prlimit $limits "$python" -I -S -B -c "$driver" "$token" < /dev/null || code=$?
echo "ended $code"
`;

/**
 * Runs `/tmp/program.py` with nothing but `/dev/null` for input and output, and says how it ended behind the token. The token keeps an early
 * exit from passing for a success; against a program that looks for it in its interpreter there is no help.
 */
export const driver = `
import os, sys
def main():
    token = sys.argv.pop()
    out = os.dup(1)
    null = os.open('/dev/null', os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.chdir('/tmp')
    try:
        with open('/tmp/program.py', encoding='utf-8') as file:
            code = compile(file.read(), 'program.py', 'exec')
        exec(code, {'__name__': '__main__'})
        said = 'passed'
    except BaseException as error:
        said = 'failed ' + type(error).__name__
        try:
            said += ': ' + str(error).replace(chr(10), ' ')[:200]
        except BaseException:
            pass
    os.write(out, (token + ' ' + said + chr(10)).encode('utf-8', 'replace'))
    os._exit(0)
main()
`;
