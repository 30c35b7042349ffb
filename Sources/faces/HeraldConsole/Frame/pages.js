// The pages, in navigation order: a page is registered here. The server answers `/name…` when there is a file
// Pages/Name/name.js, and adds Pages/Name/name.css to /pages.css.

import * as account from '../Pages/Account/account.js';
import * as audit from '../Pages/Audit/audit.js';
import * as campaigns from '../Pages/Campaigns/campaigns.js';
import * as failures from '../Pages/Failures/failures.js';
import * as find from '../Pages/Find/find.js';
import * as now from '../Pages/Now/now.js';
import * as preferences from '../Pages/Preferences/preferences.js';
import * as runbook from '../Pages/Runbook/runbook.js';
import * as verdict from '../Pages/Verdict/verdict.js';

export const pages = [
  { name: '', title: 'Verdict', module: verdict },
  { name: 'now', title: 'Now', module: now },
  { name: 'failures', title: 'Failures', module: failures },
  { name: 'find', title: 'Find', module: find },
  { name: 'campaigns', title: 'Campaigns', module: campaigns },
  { name: 'preferences', title: 'Preferences', module: preferences },
  { name: 'account', title: 'Account', module: account },
  { name: 'audit', title: 'Audit', module: audit },
  { name: 'runbook', title: 'Runbook', module: runbook },
];
