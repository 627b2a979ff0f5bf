/** Whether this is `npm run test:all`: every sandbox backend of this user, ten times the fuzz and the large corpora too. */
export const testAll: boolean = process.env['TEST_ALL'] === '1';
