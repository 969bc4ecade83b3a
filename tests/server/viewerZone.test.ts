import { pageWorld } from '../builders/pageWorld';
import { appOf } from '../builders/serverWorld';

const read = async (path: string, zone?: string): Promise<string> => {
  const app = appOf(undefined, { ...pageWorld() });
  const headers: Record<string, string> = zone === undefined ? {} : { cookie: `conveyor-zone=${zone}` };
  return (await app.request(`http://localhost:4500${path}`, { headers })).text();
};

describe('the times of a page', () => {
  test('are in the zone of the browser, in cells and in sentences, with UTC under the pointer', async () => {
    const page = await read('/releases/kvstore/13/deploy', 'Asia/Tokyo');
    expect(page).toContain('phase half bakes until 23:04:52');
    expect(page).toMatch(/title="[^"]*23:01:40 Asia\/Tokyo, 2026-11-20T14:01:40.000Z">23:01:40</);
    expect(page).toContain('Times are in Asia/Tokyo.');
  });

  test.each([undefined, '', 'Nowhere/Town', '"><b>', '+05:30', 'A'.repeat(70), 'etc/utc'])(
    'are in UTC if the browser says %j',
    async (zone) => {
      const page = await read('/releases/kvstore/13/deploy', zone);
      expect(page).toContain('phase half bakes until 14:04:52');
      expect(page).toContain('Times are in UTC.');
    },
  );

  test('have one spelling of a zone, and those of the calendar stay in UTC', async () => {
    expect(await read('/releases/kvstore/13', 'europe/berlin')).toContain('Times are in Europe/Berlin.');
    expect(await read('/calendar', 'Asia/Tokyo')).toContain('Times are in UTC.');
  });
});
