import { redactUrl, withShownUrls } from '../../domain/redactUrl';

describe('an address that people see', () => {
  test.each([
    ['http://localhost:4400', 'http://localhost:4400'],
    ['http://localhost:4400/', 'http://localhost:4400'],
    ['https://hooks.slack.com/services/T0/B0/s3cret', 'https://hooks.slack.com/…'],
    ['https://alice:s3cret@example.org/', 'https://example.org'],
    ['https://example.org?token=s3cret', 'https://example.org/…'],
    ['https://example.org#s3cret', 'https://example.org'],
    ['${SLACK_WEBHOOK}', '${SLACK_WEBHOOK}'],
    ['${HOOKS}/s3cret', '${HOOKS}/…'],
    ['${HOOKS}.s3cret', '${HOOKS}/…'],
    ['mailto:s3cret@example.org', 'mailto:/…'],
    ['s3cret', 'an invalid address'],
  ])('says of %s no more than %s', (url, shown) => expect(redactUrl(url)).toBe(shown));

  test('is so in the words of others, too', () => {
    expect(withShownUrls('cannot reach "http://a:s3cret@b/c" nor HTTPS://b/s3cret, alas')).toBe(
      'cannot reach "http://b/…" nor https://b/… alas',
    );
  });
});
