import { messageOf, PerwattError, systemCode } from '@perwatt/core';

const unusable = new Set(['EACCES', 'EPERM', 'EROFS', 'EISDIR', 'ENOTDIR', 'ELOOP', 'EIO']);

/** What a failed file operation becomes: `DISK_FULL` or `FILE_UNREADABLE` naming the file, or the error as it was. */
export function fileError(error: unknown, file: string): unknown {
  const code = systemCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new PerwattError('DISK_FULL', `no space left for ${file}`, { cause: error });
  }
  if (code !== null && unusable.has(code)) {
    return new PerwattError('FILE_UNREADABLE', `cannot use ${file}: ${code}`, { cause: error });
  }
  return engineError(error, file);
}

/** The same for a file that the engine of SQL works on: it tells in words. */
function engineError(error: unknown, file: string): unknown {
  const [line = ''] = messageOf(error).split('\n');
  if (error instanceof PerwattError || !line.startsWith('IO Error: ')) return error;
  return /no space left|quota exceeded/i.test(line)
    ? new PerwattError('DISK_FULL', `no space left for ${file}`, { cause: error })
    : new PerwattError('FILE_UNREADABLE', `cannot use ${file}: ${line}`, { cause: error });
}
