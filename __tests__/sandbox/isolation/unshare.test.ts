import { expect, it } from 'vitest';
import { readMountPoints } from '../../../src/sandbox/isolation/unshare.ts';

it('parses the mount table and keeps visible mounts', () => {
  const text = [
    '20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw',
    '21 20 8:2 / /data rw,nosuid,relatime - ext4 /dev/sda2 rw',
    '22 21 8:3 / /data/deep ro,nodev - ext4 /dev/sda3 rw',
    '23 20 8:4 / /data rw,noexec - ext4 /dev/sda4 rw',
    '24 20 8:5 / /mnt/a\\040b rw - ext4 /dev/sda5 rw',
    '25 1 8:1 / / rw - ext4 /dev/sda1 rw',
    '26 20 8:6 / /data/later rw - ext4 /dev/sda6 rw',
    '',
  ].join('\n');
  expect(readMountPoints(text)).toEqual([
    { at: '/data', options: ['rw', 'noexec'] },
    { at: '/mnt/a b', options: ['rw'] },
    { at: '/', options: ['rw'] },
    { at: '/data/later', options: ['rw'] },
  ]);
});
