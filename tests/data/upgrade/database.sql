BEGIN TRANSACTION;
CREATE TABLE accounts (
	id VARCHAR(28) NOT NULL, 
	workspace_id VARCHAR NOT NULL, 
	email VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	role VARCHAR NOT NULL, 
	api_access BOOLEAN NOT NULL, 
	password_hash VARCHAR NOT NULL, 
	disabled_at DATETIME, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_accounts PRIMARY KEY (id), 
	CONSTRAINT ck_accounts_role_known CHECK (role IN ('member', 'admin')), 
	CONSTRAINT fk_accounts_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE, 
	CONSTRAINT uq_accounts_email UNIQUE (email)
);
INSERT INTO "accounts" VALUES('acc_06h06brioshp0m9f4lca7b4h','wks_06h06bri42crc0eci6sn7nva','ada@acme.example','Ada','member',1,'$argon2id$v=19$m=19456,t=2,p=1$n3OrV0t2F8PsLRkC4dNNzA$da6zgNTtsIyLmReZ6H3AEOlaXbXyq+qyoHl/lUrYgZk',NULL,'2026-11-20 07:30:00.000000');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0009');
CREATE TABLE api_keys (
	id VARCHAR(28) NOT NULL, 
	account_id VARCHAR(28) NOT NULL, 
	name VARCHAR NOT NULL, 
	prefix VARCHAR NOT NULL, 
	scopes JSON NOT NULL, 
	hash BLOB NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME, 
	last_used_at DATETIME, 
	revoked_at DATETIME, 
	CONSTRAINT pk_api_keys PRIMARY KEY (id), 
	CONSTRAINT fk_api_keys_account_id FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE, 
	CONSTRAINT uq_api_keys_hash UNIQUE (hash)
);
INSERT INTO "api_keys" VALUES('key_06h06brklosinads72em0nnb','acc_06h06brioshp0m9f4lca7b4h','CRM sync','key_GPHHitsu','["lookup", "reveal", "enrich", "save"]',X'9E8ADB883D41BF359AF84CC1756491F80D1CB28B79F59DF5E50CEA3C71700C42','2026-11-20 07:30:00.000000',NULL,NULL,NULL);
CREATE TABLE audits (
	id VARCHAR(28) NOT NULL, 
	at DATETIME NOT NULL, 
	milliseconds INTEGER, 
	workspaces INTEGER, 
	jobs INTEGER, 
	entries INTEGER, 
	faults JSON, 
	CONSTRAINT pk_audits PRIMARY KEY (id)
);
INSERT INTO "audits" VALUES('aud_06h06brpppo2lfnn8vht0ksr','2026-11-20 09:00:00.000000',70,1,5,11,'[{"rule": "open_job_is_not_stuck", "id": "job_06h06brktbselq1et8kjv8dl", "workspace_id": "wks_06h06bri42crc0eci6sn7nva", "expected": "over", "found": "queued past its deadline"}]');
CREATE TABLE caller_identifiers (
	workspace_id VARCHAR NOT NULL, 
	digest BLOB NOT NULL, 
	contact_id VARCHAR(28) NOT NULL, 
	kind VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_caller_identifiers PRIMARY KEY (workspace_id, digest, contact_id), 
	CONSTRAINT fk_caller_identifiers_contact_id FOREIGN KEY(contact_id) REFERENCES contacts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_caller_identifiers_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
INSERT INTO "caller_identifiers" VALUES('wks_06h06bri42crc0eci6sn7nva',X'A17644A12CE08DB428B8FC5CB508A0ADB09187A569B5445F2F000DCA005A18F0','con_06h06brnvmvg7no1ea9a7vkq','words','2026-11-20 09:00:00.000000');
INSERT INTO "caller_identifiers" VALUES('wks_06h06bri42crc0eci6sn7nva',X'759323AB6386B6B2519BBEF942D52353D007B934BE25A9A033449882E4DD76CF','con_06h06brnvmvg7no1ea9a7vkq','phone','2026-11-20 09:00:00.000000');
INSERT INTO "caller_identifiers" VALUES('wks_06h06bri42crc0eci6sn7nva',X'DFAC790663E7A90575CB300CC65E50C18337896C155AC9F5CE763AB4D2D04509','con_06h06brnvmvg7no1ea9a7vkq','name','2026-11-20 09:00:00.000000');
CREATE TABLE companies (
	id VARCHAR(28) NOT NULL, 
	name VARCHAR, 
	name_key VARCHAR, 
	domain VARCHAR, 
	domain_hash BLOB, 
	linkedin_url VARCHAR, 
	linkedin_hash BLOB, 
	industry VARCHAR, 
	headcount VARCHAR, 
	city VARCHAR, 
	country VARCHAR, 
	provenance JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_companies PRIMARY KEY (id), 
	CONSTRAINT uq_companies_domain UNIQUE (domain), 
	CONSTRAINT uq_companies_domain_hash UNIQUE (domain_hash), 
	CONSTRAINT uq_companies_linkedin_hash UNIQUE (linkedin_hash), 
	CONSTRAINT uq_companies_linkedin_url UNIQUE (linkedin_url)
);
INSERT INTO "companies" VALUES('com_06h06brj1b6t00u8edj7oefe','Acme','acme','acme.com',X'1194228DA8FDBDEEFD261BD7B6595CFD70A50D70C6407BCF013DE96D4EFB17DE',NULL,NULL,NULL,NULL,NULL,NULL,'{"*": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}}','2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000');
INSERT INTO "companies" VALUES('com_06h06brnvjacnb2q5d5p7ov2','Sandbox','sandbox','sandbox.example',X'3F6C04596FE40012D6168BEC92468AE61FF391EBD2A92ABF1DCBDF26EEC9FDE8',NULL,NULL,NULL,'1-10',NULL,NULL,'{"*": {"source": "sandbox", "at": "2026-11-20T09:00:00.000Z"}}','2026-11-20 09:00:00.000000','2026-11-20 09:00:00.000000');
CREATE TABLE contacts (
	id VARCHAR(28) NOT NULL, 
	full_name VARCHAR, 
	first_name VARCHAR, 
	last_name VARCHAR, 
	name_key VARCHAR, 
	last_key VARCHAR, 
	title VARCHAR, 
	seniority VARCHAR, 
	department VARCHAR, 
	linkedin_url VARCHAR, 
	city VARCHAR, 
	country VARCHAR, 
	company_id VARCHAR(28), 
	provenance JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_contacts PRIMARY KEY (id), 
	CONSTRAINT fk_contacts_company_id FOREIGN KEY(company_id) REFERENCES companies (id) ON DELETE SET NULL, 
	CONSTRAINT uq_contacts_linkedin_url UNIQUE (linkedin_url)
);
INSERT INTO "contacts" VALUES('con_06h06brj2jlppchf7unf311c','Ada Lovelace','Ada','Lovelace','ada lovelace','lovelace','Engineer',NULL,NULL,'https://www.linkedin.com/in/ada-lovelace',NULL,NULL,'com_06h06brj1b6t00u8edj7oefe','{"*": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}}','2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000');
INSERT INTO "contacts" VALUES('con_06h06brj2jqjmpq9h1avv3hm','Bob Ray','Bob','Ray','bob ray','ray','Head of Sales',NULL,NULL,'https://www.linkedin.com/in/bob-ray',NULL,NULL,'com_06h06brj1b6t00u8edj7oefe','{"*": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}}','2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000');
INSERT INTO "contacts" VALUES('con_06h06brj2jrsuc842am9l9sv','Cleo Fox','Cleo','Fox','cleo fox','fox','Designer',NULL,NULL,'https://www.linkedin.com/in/cleo-fox',NULL,NULL,'com_06h06brj1b6t00u8edj7oefe','{"*": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}}','2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000');
INSERT INTO "contacts" VALUES('con_06h06brj2jssuv8euobbns1t','Sue Hill','Sue','Hill','sue hill','hill','Lawyer',NULL,NULL,'https://www.linkedin.com/in/sue-hill',NULL,NULL,'com_06h06brj1b6t00u8edj7oefe','{"*": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}}','2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000');
INSERT INTO "contacts" VALUES('con_06h06brj2ju794l8j4nkugca','Eve Kay','Eve','Kay','eve kay','kay','Buyer',NULL,NULL,'https://www.linkedin.com/in/eve-kay',NULL,NULL,'com_06h06brj1b6t00u8edj7oefe','{"*": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}}','2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000');
INSERT INTO "contacts" VALUES('con_06h06brj2jv13k3q2dvnqpel','Finn Moe','Finn','Moe','finn moe','moe','Driver',NULL,NULL,'https://www.linkedin.com/in/finn-moe',NULL,NULL,'com_06h06brj1b6t00u8edj7oefe','{"*": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}}','2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000');
INSERT INTO "contacts" VALUES('con_06h06brnvmvg7no1ea9a7vkq','Found Sandbox','Found','Sandbox','found sandbox','sandbox','Sample Person',NULL,NULL,'https://www.linkedin.com/in/sandbox-found',NULL,'US','com_06h06brnvjacnb2q5d5p7ov2','{"*": {"source": "sandbox", "at": "2026-11-20T09:00:00.000Z"}}','2026-11-20 09:00:00.000000','2026-11-20 09:00:00.000000');
CREATE TABLE emails (
	id VARCHAR(28) NOT NULL, 
	contact_id VARCHAR(28) NOT NULL, 
	email VARCHAR NOT NULL, 
	domain VARCHAR NOT NULL, 
	type VARCHAR NOT NULL, 
	status VARCHAR NOT NULL, 
	status_reasons JSON NOT NULL, 
	confidence DOUBLE, 
	form VARCHAR, 
	verified_at DATETIME, 
	first_seen_at DATETIME NOT NULL, 
	last_seen_at DATETIME NOT NULL, 
	sources JSON NOT NULL, reported_at DATETIME, 
	CONSTRAINT pk_emails PRIMARY KEY (id), 
	CONSTRAINT fk_emails_contact_id FOREIGN KEY(contact_id) REFERENCES contacts (id) ON DELETE CASCADE, 
	CONSTRAINT uq_emails_contact_id_email UNIQUE (contact_id, email)
);
INSERT INTO "emails" VALUES('eml_06h06brj55j85ecnnkm320j0','con_06h06brj2jlppchf7unf311c','ada@acme.example','acme.example','work','valid','[]',NULL,'{first}',NULL,'2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000','[{"provider": "crm", "kind": "import", "first_seen_at": "2026-11-20T07:30:00.000Z", "last_seen_at": "2026-11-20T07:30:00.000Z"}]',NULL);
INSERT INTO "emails" VALUES('eml_06h06brj55o95bjqn0mkdaol','con_06h06brj2jqjmpq9h1avv3hm','bob@acme.example','acme.example','work','valid','[]',NULL,'{first}',NULL,'2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000','[{"provider": "crm", "kind": "import", "first_seen_at": "2026-11-20T07:30:00.000Z", "last_seen_at": "2026-11-20T07:30:00.000Z"}]',NULL);
INSERT INTO "emails" VALUES('eml_06h06brj55pbr8s3aj5vv26k','con_06h06brj2jrsuc842am9l9sv','cleo@acme.example','acme.example','work','valid','[]',NULL,'{first}',NULL,'2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000','[{"provider": "crm", "kind": "import", "first_seen_at": "2026-11-20T07:30:00.000Z", "last_seen_at": "2026-11-20T07:30:00.000Z"}]',NULL);
INSERT INTO "emails" VALUES('eml_06h06brj55q7cshh56uoj7li','con_06h06brj2jssuv8euobbns1t','sue@acme.example','acme.example','work','valid','[]',NULL,'{first}',NULL,'2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000','[{"provider": "crm", "kind": "import", "first_seen_at": "2026-11-20T07:30:00.000Z", "last_seen_at": "2026-11-20T07:30:00.000Z"}]',NULL);
INSERT INTO "emails" VALUES('eml_06h06brj55qus1mm30v22d91','con_06h06brj2ju794l8j4nkugca','eve@acme.example','acme.example','work','valid','[]',NULL,'{first}',NULL,'2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000','[{"provider": "crm", "kind": "import", "first_seen_at": "2026-11-20T07:30:00.000Z", "last_seen_at": "2026-11-20T07:30:00.000Z"}]',NULL);
INSERT INTO "emails" VALUES('eml_06h06brj55ri48v62dviksso','con_06h06brj2jv13k3q2dvnqpel','finn@acme.example','acme.example','work','valid','[]',NULL,'{first}',NULL,'2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000','[{"provider": "crm", "kind": "import", "first_seen_at": "2026-11-20T07:30:00.000Z", "last_seen_at": "2026-11-20T07:30:00.000Z"}]',NULL);
INSERT INTO "emails" VALUES('eml_06h06brnvuel9unjnipai0ei','con_06h06brnvmvg7no1ea9a7vkq','found@sandbox.example','sandbox.example','work','valid','[]',NULL,'{first}','2026-11-20 09:00:00.000000','2026-11-20 09:00:00.000000','2026-11-20 09:00:00.000000','[{"provider": "sandbox", "kind": "provider", "first_seen_at": "2026-11-20T09:00:00.000Z", "last_seen_at": "2026-11-20T09:00:00.000Z"}]',NULL);
CREATE TABLE failed_sign_ins (
	bucket INTEGER NOT NULL, 
	failures INTEGER NOT NULL, 
	last_at DATETIME NOT NULL, 
	CONSTRAINT pk_failed_sign_ins PRIMARY KEY (bucket)
);
CREATE TABLE feedback (
	id VARCHAR(28) NOT NULL, 
	workspace_id VARCHAR NOT NULL, 
	account_id VARCHAR, 
	contact_id VARCHAR(28) NOT NULL, 
	email_id VARCHAR(28) NOT NULL, 
	kind VARCHAR NOT NULL, 
	providers JSON NOT NULL, 
	country VARCHAR, 
	refunded INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, confirmed_at DATETIME, refuted_at DATETIME, 
	CONSTRAINT pk_feedback PRIMARY KEY (id), 
	CONSTRAINT fk_feedback_contact_id FOREIGN KEY(contact_id) REFERENCES contacts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_feedback_email_id FOREIGN KEY(email_id) REFERENCES emails (id) ON DELETE CASCADE, 
	CONSTRAINT fk_feedback_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE, 
	CONSTRAINT uq_feedback_email_id_workspace_id_kind UNIQUE (email_id, workspace_id, kind)
);
INSERT INTO "feedback" VALUES('fdb_06h06brp19aovgcgfoboduuk','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','con_06h06brj2jlppchf7unf311c','eml_06h06brj55j85ecnnkm320j0','bounce','[]',NULL,1,'2026-11-20 09:00:00.000000',NULL,NULL);
CREATE TABLE idempotency_keys (
	workspace_id VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	request_hash BLOB NOT NULL, 
	reference VARCHAR, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_idempotency_keys PRIMARY KEY (workspace_id, "key"), 
	CONSTRAINT fk_idempotency_keys_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','expired',X'69AC89E5E07B42390696F2A11F3CBF83F3D13A4E3F83253DA643148C09C4918B','job_06h06brktbselq1et8kjv8dl','2026-11-20 07:30:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','owned',X'5DC293F7D3C0D274B39F3C44BC2A06D07AC015E398FAC9E195FBE9C37E5938A3','job_06h06brlja8bi7ca05ce4acu','2026-11-20 09:00:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','bought',X'EE376514D2880039256E484262298798416BBECA0B702CA322487BE22C358DD8','job_06h06brlpucbe692t7927n61','2026-11-20 09:00:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','opted out',X'7E9B4F89A5389326A1B92252CBCF6847523E92E74891343D38288004E44D1CBF','job_06h06brm1soaap141hvtjmbr','2026-11-20 09:00:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','told',X'6A3B5BC14A7C32341C4592C3007A67C704EA20148C67CE414D54BA3199538E8F','job_06h06brmal0dv6ueng86tpr7','2026-11-20 09:00:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','bounce',X'1D0939A496D6994F6BCD7A3ECFDE6228C584F9C88C22CBEF7E7E6F7474323084','fdb_06h06brp19aovgcgfoboduuk','2026-11-20 09:00:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','saved',X'3A9930D6F62C084A25E5A855ED265091807AF25E2898349E235B3DE630D53DD2','prf_06h06brpjtbp1s1pcs4ilbvj','2026-11-20 09:00:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','killed',X'366D4D03677ED60E2CDB0583E4960EDC4371A9A79D5B59C9FA621C17D5E928DE','job_06h06brqa93t9t5apgp1vrlk','2026-11-20 09:29:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','killed list',X'953FB2DD0A6CAF56DC0388B646115C7E842D182BF37D1E81D2D4423EC9C1D180','job_06h06brr0djnrhbhkl2bhnmg','2026-11-20 09:29:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','waiting',X'E9FF1C0CB7A71FC53F20A963B5F5B02CC9369F7CC5EFC70055FADBA0BA148915','job_06h06brro9vb05fmg958dc13','2026-11-20 09:29:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','queued reveal_email',X'C41913A23A8C7380ECF4D184848D6630D463BE73553A8C5DAFB4213A3312BA5E','job_06h06brsjnbk4ko9v07pbfus','2026-11-20 09:30:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','queued reveal_phone',X'FB9AE12A1301D892FB5FE9AE9E5FD03946450BCE25E6C7056ACC2C343F76902A','job_06h06brsprij9skengf9jenu','2026-11-20 09:30:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','queued enrichment',X'FE80A85CC3AC9FE5DDC66812B73838D5F969EFBFAC4EDCE8F0690C7A75E1794D','job_06h06brt2dagkh3seh6n4dsu','2026-11-20 09:30:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','queued companies',X'C0037325797F20B5B386344A0149C8BCAB393CFBEE994B2D3491C4C76AD83313','job_06h06brtao0ms89jvadb1ktg','2026-11-20 09:30:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','queued company_by_hash',X'62CED8D9860472979741FB444019DDA3374139565DF54B0A3BF5F4DCC6FB209F','job_06h06brtfa3b1nqsk31bb94u','2026-11-20 09:30:00.000000');
INSERT INTO "idempotency_keys" VALUES('wks_06h06bri42crc0eci6sn7nva','queued leads',X'797C3806FE598D24937F7EBA243DF2F4244507D8699AA168D7C2ED1B47AF43E6','job_06h06brtli4rl30b11atgdt4','2026-11-20 09:30:00.000000');
CREATE TABLE import_runs (
	id INTEGER NOT NULL, 
	entity VARCHAR NOT NULL, 
	rows INTEGER NOT NULL, 
	started_at DATETIME NOT NULL, 
	touched_at DATETIME NOT NULL, 
	CONSTRAINT pk_import_runs PRIMARY KEY (id)
);
INSERT INTO "import_runs" VALUES(1,'contacts',6,'2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000');
CREATE TABLE job_items (
	job_id VARCHAR(28) NOT NULL, 
	"index" INTEGER NOT NULL, 
	request JSON NOT NULL, 
	outcome VARCHAR, 
	result JSON, 
	error JSON, 
	charged INTEGER NOT NULL, 
	CONSTRAINT pk_job_items PRIMARY KEY (job_id, "index"), 
	CONSTRAINT fk_job_items_job_id FOREIGN KEY(job_id) REFERENCES jobs (id) ON DELETE CASCADE
);
INSERT INTO "job_items" VALUES('job_06h06brmal0dv6ueng86tpr7',0,'{"subject": {"linkedin_url": "https://www.linkedin.com/in/cleo-fox"}}','found','{"contact": {"id": "con_06h06brj2jrsuc842am9l9sv", "full_name": "Cleo Fox", "title": "Designer", "seniority": null, "department": null, "linkedin_url": "https://www.linkedin.com/in/cleo-fox", "location": {"city": null, "country": null}}, "company": null, "emails": [{"email": "cleo@acme.example", "type": "work", "status": "valid", "status_reasons": [], "confidence": null, "primary": true, "verified_at": null, "sources": [{"provider": "crm", "kind": "import", "first_seen_at": "2026-11-20T07:30:00.000Z", "last_seen_at": "2026-11-20T07:30:00.000Z"}]}], "phones": [], "sources": {"contact": {"full_name": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}, "title": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}, "linkedin_url": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}}, "company": {}}, "conflicts": []}',NULL,1);
INSERT INTO "job_items" VALUES('job_06h06brr0djnrhbhkl2bhnmg',0,'{"client_reference": "row-1", "subject": {"linkedin_url": "https://www.linkedin.com/in/bob-ray"}}','found','{"contact": {"id": "con_06h06brj2jqjmpq9h1avv3hm", "full_name": "Bob Ray", "title": "Head of Sales", "seniority": null, "department": null, "linkedin_url": "https://www.linkedin.com/in/bob-ray", "location": {"city": null, "country": null}}, "company": {"id": "com_06h06brj1b6t00u8edj7oefe", "name": "Acme", "domain": "acme.com", "linkedin_url": null, "industry": null, "headcount": null, "location": {"city": null, "country": null}}, "emails": [{"email": "bob@acme.example", "type": "work", "status": "valid", "status_reasons": [], "confidence": null, "primary": true, "verified_at": null, "sources": [{"provider": "crm", "kind": "import", "first_seen_at": "2026-11-20T07:30:00.000Z", "last_seen_at": "2026-11-20T07:30:00.000Z"}]}], "phones": [{"e164": "+12025550144", "national": "(202) 555-0144", "extension": null, "country": "US", "type": "work", "line_type": "unknown", "status": "valid", "confidence": null, "do_not_call": null, "do_not_call_checked_at": null, "verified_at": null, "sources": [{"provider": "crm", "kind": "import", "first_seen_at": "2026-11-20T07:30:00.000Z", "last_seen_at": "2026-11-20T07:30:00.000Z"}]}], "sources": {"contact": {"full_name": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}, "title": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}, "linkedin_url": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}, "company": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}}, "company": {"name": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}, "domain": {"source": "crm", "at": "2026-11-20T07:30:00.000Z"}}}, "conflicts": []}',NULL,2);
INSERT INTO "job_items" VALUES('job_06h06brr0djnrhbhkl2bhnmg',1,'{"client_reference": "row-2", "subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-found"}}',NULL,NULL,NULL,0);
INSERT INTO "job_items" VALUES('job_06h06brt2dagkh3seh6n4dsu',0,'{"subject": {"linkedin_url": "https://www.linkedin.com/in/cleo-fox"}}',NULL,NULL,NULL,0);
INSERT INTO "job_items" VALUES('job_06h06brt2dagkh3seh6n4dsu',1,'{"subject": {"linkedin_url": "https://www.linkedin.com/in/sue-hill"}}',NULL,NULL,NULL,0);
INSERT INTO "job_items" VALUES('job_06h06brt2dagkh3seh6n4dsu',2,'{"subject": {"linkedin_url": "https://www.linkedin.com/in/finn-moe"}}',NULL,NULL,NULL,0);
INSERT INTO "job_items" VALUES('job_06h06brtao0ms89jvadb1ktg',0,'{"company": {"domain": "acme.com"}}',NULL,NULL,NULL,0);
INSERT INTO "job_items" VALUES('job_06h06brtao0ms89jvadb1ktg',1,'{"company": {"domain": "sandbox.example"}}',NULL,NULL,NULL,0);
CREATE TABLE jobs (
	id VARCHAR(28) NOT NULL, 
	workspace_id VARCHAR NOT NULL, 
	account_id VARCHAR, 
	kind VARCHAR NOT NULL, 
	question BLOB NOT NULL, 
	request JSON NOT NULL, 
	status VARCHAR NOT NULL, 
	outcome VARCHAR, 
	result JSON, 
	trace JSON NOT NULL, 
	error JSON, 
	held BIGINT NOT NULL, 
	charged BIGINT NOT NULL, 
	already_owned BOOLEAN NOT NULL, 
	progress_done INTEGER NOT NULL, 
	progress_total INTEGER NOT NULL, 
	attempts INTEGER NOT NULL, 
	crashes INTEGER NOT NULL, 
	lease_token VARCHAR, 
	lease_until DATETIME, 
	run_after DATETIME NOT NULL, 
	deadline_at DATETIME NOT NULL, 
	published_at DATETIME, 
	publishes INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	finished_at DATETIME, queue VARCHAR DEFAULT 'interactive' NOT NULL, 
	CONSTRAINT pk_jobs PRIMARY KEY (id), 
	CONSTRAINT ck_jobs_charged_within_held CHECK (charged <= held), 
	CONSTRAINT ck_jobs_running_has_a_lease CHECK ((status = 'running') = (lease_token IS NOT NULL)), 
	CONSTRAINT fk_jobs_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
INSERT INTO "jobs" VALUES('job_06h06brktbselq1et8kjv8dl','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','reveal.phone',X'121CD092DB9502498901D55AB59DDAB3BCDB6B71F974D1C910E863F8BBE4F7FB','{"subject": {"linkedin_url": "https://www.linkedin.com/in/nobody-here"}, "types": ["direct", "hq", "mobile", "other", "work"], "min_status": "any", "max_age_days": null}','queued',NULL,NULL,'[]',NULL,1,0,0,0,1,0,0,NULL,NULL,'2026-11-20 07:30:00.000000','2026-11-20 08:30:00.000000',NULL,0,'2026-11-20 07:30:00.000000',NULL,'interactive');
INSERT INTO "jobs" VALUES('job_06h06brlja8bi7ca05ce4acu','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','reveal.email',X'E641A411615E76EB394BC6D7D75FD3EAA0900DB5004CD8F380779EA0A35D03D5','{"subject": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"}, "types": ["work"], "min_status": "valid", "max_age_days": null}','succeeded','found','{"contact_id": "con_06h06brj2jlppchf7unf311c", "emails": []}','[]',NULL,1,1,0,1,1,1,0,NULL,NULL,'2026-11-20 09:00:00.000000','2026-11-20 10:00:00.000000',NULL,0,'2026-11-20 09:00:00.000000','2026-11-20 09:00:00.000000','interactive');
INSERT INTO "jobs" VALUES('job_06h06brlpucbe692t7927n61','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','reveal.email',X'5E708CD27C7B008A6C877E53085C8A4C9B1D9D06BE80727E5FEC5664EF37B9D3','{"subject": {"full_name": "Found Sandbox", "company_domain": "sandbox.example", "phone": "+12025550143"}, "types": ["work"], "min_status": "valid", "max_age_days": null}','succeeded','found','{"contact_id": "con_06h06brnvmvg7no1ea9a7vkq", "emails": [{"email": "found@sandbox.example", "type": "work", "status": "valid", "status_reasons": [], "confidence": null, "primary": true, "verified_at": "2026-11-20T09:00:00.000Z", "sources": [{"provider": "sandbox", "kind": "provider", "first_seen_at": "2026-11-20T09:00:00.000Z", "last_seen_at": "2026-11-20T09:00:00.000Z"}]}]}','[{"provider": "sandbox", "field": "email", "outcome": "hit", "status": "valid", "latency_ms": 0, "cost": 1, "at": "2026-11-20T09:00:00.000Z"}]',NULL,1,1,0,1,1,1,0,NULL,NULL,'2026-11-20 09:00:00.000000','2026-11-20 10:00:00.000000',NULL,0,'2026-11-20 09:00:00.000000','2026-11-20 09:00:00.000000','providers');
INSERT INTO "jobs" VALUES('job_06h06brm1soaap141hvtjmbr','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','reveal.email',X'2B3F939D8E8A8697E371B3924313605AF72A02AF86A36A221C7F9B83040950A9','{}','succeeded','suppressed',NULL,'[{"provider": "sandbox", "field": "email", "outcome": "suppressed", "latency_ms": 0, "cost": 0, "at": "2026-11-20T09:00:00.000Z"}]',NULL,1,0,0,1,1,1,0,NULL,NULL,'2026-11-20 09:00:00.000000','2026-11-20 10:00:00.000000',NULL,0,'2026-11-20 09:00:00.000000','2026-11-20 09:00:00.000000','providers');
INSERT INTO "jobs" VALUES('job_06h06brmal0dv6ueng86tpr7','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','enrichment_request',X'41918A8C3EA06D0BF3A276EE04A1CE129DDD91D377779E0BA1CDA80B18C57C9B','{"entity": "person", "fields": ["email", "profile"], "max_credits": null}','succeeded','found',NULL,'[]',NULL,1,1,0,1,1,1,0,NULL,NULL,'2026-11-20 09:00:00.000000','2026-11-20 10:00:00.000000',NULL,0,'2026-11-20 09:00:00.000000','2026-11-20 09:00:00.000000','enrichment');
INSERT INTO "jobs" VALUES('job_06h06brqa93t9t5apgp1vrlk','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','reveal.email',X'C3F2A63FC9C5DB50A8D561729EDB99F7CF685462FDFD3557058DFB8D28CBF733','{"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-accept-all"}, "types": ["work"], "min_status": "accept_all", "max_age_days": null}','running',NULL,NULL,'[]',NULL,1,0,0,0,1,1,0,'56ae53fc70f0bacc84dda1562a9ee4a5','2026-11-20 09:29:20.000000','2026-11-20 09:29:00.000000','2026-11-20 10:29:00.000000',NULL,0,'2026-11-20 09:29:00.000000',NULL,'providers');
INSERT INTO "jobs" VALUES('job_06h06brr0djnrhbhkl2bhnmg','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','enrichment_request',X'4DEB5444A7AA6C3A08257AAD69EA6276EB9D343D3538D6EF03C0965336A0EFB3','{"entity": "person", "fields": ["company", "email", "phone", "profile"], "max_credits": null}','running',NULL,NULL,'[]',NULL,3,2,0,1,2,1,0,'3182b0c36e32926e9540a1c89e1744f8','2026-11-20 09:29:20.000000','2026-11-20 09:29:00.000000','2026-11-20 10:29:00.000000',NULL,0,'2026-11-20 09:29:00.000000',NULL,'enrichment');
INSERT INTO "jobs" VALUES('job_06h06brro9vb05fmg958dc13','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','reveal.email',X'C229B572C429F82AEE0B45FB812BA2E0E32307457B734E1AF011B9A0806824A0','{"subject": {"linkedin_url": "https://www.linkedin.com/in/wim-wait"}, "types": ["work"], "min_status": "valid", "max_age_days": null}','queued',NULL,NULL,'[{"provider": "sandbox", "field": "email", "outcome": "ineligible", "latency_ms": 0, "cost": 0, "at": "2026-11-20T09:29:00.000Z"}]',NULL,1,0,0,0,1,0,0,NULL,NULL,'2026-11-20 09:29:05.000000','2026-11-20 10:29:00.000000',NULL,1,'2026-11-20 09:29:00.000000',NULL,'providers');
INSERT INTO "jobs" VALUES('job_06h06brsjnbk4ko9v07pbfus','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','reveal.email',X'E2CEB505F615B552CAECEB3307C2EBDF646285E5FA406752AC4CF136584FC593','{"subject": {"linkedin_url": "https://www.linkedin.com/in/eve-kay"}, "types": ["work"], "min_status": "valid", "max_age_days": null}','queued',NULL,NULL,'[]',NULL,1,0,0,0,1,0,0,NULL,NULL,'2026-11-20 09:30:00.000000','2026-11-20 10:30:00.000000',NULL,0,'2026-11-20 09:30:00.000000',NULL,'interactive');
INSERT INTO "jobs" VALUES('job_06h06brsprij9skengf9jenu','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','reveal.phone',X'F59AE68D46F36E1CC39521988D6538B6D3F63420DAE11831470DD19C02F3F30C','{"subject": {"email": "risky@sandbox.example"}, "types": ["mobile"], "min_status": "any", "max_age_days": null, "client_reference": "row-17"}','queued',NULL,NULL,'[]',NULL,1,0,0,0,1,0,0,NULL,NULL,'2026-11-20 09:30:00.000000','2026-11-20 10:30:00.000000',NULL,0,'2026-11-20 09:30:00.000000',NULL,'interactive');
INSERT INTO "jobs" VALUES('job_06h06brt2dagkh3seh6n4dsu','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','enrichment_request',X'2A09849CA1F7885ED491A0DAA3EA2C952EA22419B6B758EB406783A796F05077','{"entity": "person", "fields": ["company", "email", "profile"], "max_credits": null}','queued',NULL,NULL,'[]',NULL,1,0,0,0,3,0,0,NULL,NULL,'2026-11-20 09:30:00.000000','2026-11-20 10:30:00.000000',NULL,0,'2026-11-20 09:30:00.000000',NULL,'enrichment');
INSERT INTO "jobs" VALUES('job_06h06brtao0ms89jvadb1ktg','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','enrichment_request',X'9A874CFB2BC014CCFF59AF48BD42392B5A7B527C746825750729C77C30BA5B13','{"entity": "company", "fields": ["company", "email", "profile"], "max_credits": null}','queued',NULL,NULL,'[]',NULL,0,0,0,0,2,0,0,NULL,NULL,'2026-11-20 09:30:00.000000','2026-11-20 10:30:00.000000',NULL,0,'2026-11-20 09:30:00.000000',NULL,'enrichment');
INSERT INTO "jobs" VALUES('job_06h06brtfa3b1nqsk31bb94u','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','company_by_hash',X'244BDAD069BBBE560CCCEB357BF5C84928BF875FA3BC463E09F02661D383DDC2','{"kind": "website", "hashes": ["1194228da8fdbdeefd261bd7b6595cfd70a50d70c6407bcf013de96d4efb17de"]}','queued',NULL,NULL,'[]',NULL,0,0,0,0,1,0,0,NULL,NULL,'2026-11-20 09:30:00.000000','2026-11-20 10:30:00.000000',NULL,0,'2026-11-20 09:30:00.000000',NULL,'interactive');
INSERT INTO "jobs" VALUES('job_06h06brtli4rl30b11atgdt4','wks_06h06bri42crc0eci6sn7nva','acc_06h06brioshp0m9f4lca7b4h','leads_by_website_hash',X'3CF61020D1AB7E35927AA392A905A41A727D41EC14651AC5C33080A77A049D13','{"hashes": ["1194228da8fdbdeefd261bd7b6595cfd70a50d70c6407bcf013de96d4efb17de"], "department": null, "seniority": null, "has": [], "limit": 2, "cursor": null}','queued',NULL,NULL,'[]',NULL,0,0,0,0,1,0,0,NULL,NULL,'2026-11-20 09:30:00.000000','2026-11-20 10:30:00.000000',NULL,0,'2026-11-20 09:30:00.000000',NULL,'interactive');
CREATE TABLE ledger (
	id VARCHAR NOT NULL, 
	workspace_id VARCHAR NOT NULL, 
	job_id VARCHAR, 
	kind VARCHAR NOT NULL, 
	available BIGINT NOT NULL, 
	held BIGINT NOT NULL, 
	spent BIGINT NOT NULL, 
	reason VARCHAR, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_ledger PRIMARY KEY (id), 
	CONSTRAINT fk_ledger_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
INSERT INTO "ledger" VALUES('led_06h06brib3m6tafc2998f8vp','wks_06h06bri42crc0eci6sn7nva',NULL,'grant',100,0,0,'test','2026-11-20 07:30:00.000000');
INSERT INTO "ledger" VALUES('led_06h06brl0bmjg1jfkkieobh2','wks_06h06bri42crc0eci6sn7nva','job_06h06brktbselq1et8kjv8dl','hold',-1,1,0,NULL,'2026-11-20 07:30:00.000000');
INSERT INTO "ledger" VALUES('led_06h06brlkklo8tlesvp3bpd5','wks_06h06bri42crc0eci6sn7nva','job_06h06brlja8bi7ca05ce4acu','hold',-1,1,0,NULL,'2026-11-20 09:00:00.000000');
INSERT INTO "ledger" VALUES('led_06h06brlqpi831m2thgfjlfo','wks_06h06bri42crc0eci6sn7nva','job_06h06brlpucbe692t7927n61','hold',-1,1,0,NULL,'2026-11-20 09:00:00.000000');
INSERT INTO "ledger" VALUES('led_06h06brm41j9muepij7hb2g5','wks_06h06bri42crc0eci6sn7nva','job_06h06brm1soaap141hvtjmbr','hold',-1,1,0,NULL,'2026-11-20 09:00:00.000000');
INSERT INTO "ledger" VALUES('led_06h06brmdhsupscn23tsrbpf','wks_06h06bri42crc0eci6sn7nva','job_06h06brmal0dv6ueng86tpr7','hold',-1,1,0,NULL,'2026-11-20 09:00:00.000000');
INSERT INTO "ledger" VALUES('led_06h06brnmnr9fusdlrnifs76','wks_06h06bri42crc0eci6sn7nva','job_06h06brlja8bi7ca05ce4acu','settle',0,-1,1,NULL,'2026-11-20 09:00:00.000000');
INSERT INTO "ledger" VALUES('led_06h06bro55jv4cn029cjlkac','wks_06h06bri42crc0eci6sn7nva','job_06h06brlpucbe692t7927n61','settle',0,-1,1,NULL,'2026-11-20 09:00:00.000000');
INSERT INTO "ledger" VALUES('led_06h06broelhc2teaphuo6l67','wks_06h06bri42crc0eci6sn7nva','job_06h06brm1soaap141hvtjmbr','release',1,-1,0,NULL,'2026-11-20 09:00:00.000000');
INSERT INTO "ledger" VALUES('led_06h06broq6onbhpb8glr07hu','wks_06h06bri42crc0eci6sn7nva','job_06h06brmal0dv6ueng86tpr7','settle',0,-1,1,NULL,'2026-11-20 09:00:00.000000');
INSERT INTO "ledger" VALUES('led_06h06brpc0mn2n9d9j8qcm34','wks_06h06bri42crc0eci6sn7nva','job_06h06brlja8bi7ca05ce4acu','refund',1,0,-1,'bounced','2026-11-20 09:00:00.000000');
INSERT INTO "ledger" VALUES('led_06h06brqchfrfi1vtp6nkr1o','wks_06h06bri42crc0eci6sn7nva','job_06h06brqa93t9t5apgp1vrlk','hold',-1,1,0,NULL,'2026-11-20 09:29:00.000000');
INSERT INTO "ledger" VALUES('led_06h06brr2sj4un8k4vgjab25','wks_06h06bri42crc0eci6sn7nva','job_06h06brr0djnrhbhkl2bhnmg','hold',-3,3,0,NULL,'2026-11-20 09:29:00.000000');
INSERT INTO "ledger" VALUES('led_06h06brrpjmh3mu89pdr0saj','wks_06h06bri42crc0eci6sn7nva','job_06h06brro9vb05fmg958dc13','hold',-1,1,0,NULL,'2026-11-20 09:29:00.000000');
INSERT INTO "ledger" VALUES('led_06h06brslieh5l01khmd2v80','wks_06h06bri42crc0eci6sn7nva','job_06h06brsjnbk4ko9v07pbfus','hold',-1,1,0,NULL,'2026-11-20 09:30:00.000000');
INSERT INTO "ledger" VALUES('led_06h06brsrqkfur7hcq24co7b','wks_06h06bri42crc0eci6sn7nva','job_06h06brsprij9skengf9jenu','hold',-1,1,0,NULL,'2026-11-20 09:30:00.000000');
INSERT INTO "ledger" VALUES('led_06h06brt3uj3nslv9vq13dbp','wks_06h06bri42crc0eci6sn7nva','job_06h06brt2dagkh3seh6n4dsu','hold',-1,1,0,NULL,'2026-11-20 09:30:00.000000');
CREATE TABLE phones (
	id VARCHAR(28) NOT NULL, 
	contact_id VARCHAR(28) NOT NULL, 
	e164 VARCHAR NOT NULL, 
	national VARCHAR NOT NULL, 
	extension VARCHAR, 
	country VARCHAR, 
	type VARCHAR NOT NULL, 
	line_type VARCHAR NOT NULL, 
	status VARCHAR NOT NULL, 
	confidence DOUBLE, 
	do_not_call BOOLEAN, 
	verified_at DATETIME, 
	first_seen_at DATETIME NOT NULL, 
	last_seen_at DATETIME NOT NULL, 
	sources JSON NOT NULL, do_not_call_at DATETIME, 
	CONSTRAINT pk_phones PRIMARY KEY (id), 
	CONSTRAINT fk_phones_contact_id FOREIGN KEY(contact_id) REFERENCES contacts (id) ON DELETE CASCADE, 
	CONSTRAINT uq_phones_contact_id_e164 UNIQUE (contact_id, e164)
);
INSERT INTO "phones" VALUES('pho_06h06brj5blc7bggk1d09h5v','con_06h06brj2jqjmpq9h1avv3hm','+12025550144','(202) 555-0144',NULL,'US','work','unknown','valid',NULL,NULL,NULL,'2026-11-20 07:30:00.000000','2026-11-20 07:30:00.000000','[{"provider": "crm", "kind": "import", "first_seen_at": "2026-11-20T07:30:00.000Z", "last_seen_at": "2026-11-20T07:30:00.000Z"}]',NULL);
CREATE TABLE provider_calls (
	id VARCHAR(28) NOT NULL, 
	job_id VARCHAR(28) NOT NULL, 
	item INTEGER, 
	field VARCHAR NOT NULL, 
	provider VARCHAR NOT NULL, 
	subject BLOB NOT NULL, 
	country VARCHAR, 
	attempt INTEGER NOT NULL, 
	outcome VARCHAR NOT NULL, 
	status VARCHAR, 
	cost DOUBLE NOT NULL, 
	latency_ms INTEGER, 
	ticket VARCHAR, 
	reply JSON, 
	asked_at DATETIME NOT NULL, 
	answered_at DATETIME, 
	CONSTRAINT pk_provider_calls PRIMARY KEY (id)
);
INSERT INTO "provider_calls" VALUES('cal_06h06brnpvvt3jijqv3ducb5','job_06h06brlpucbe692t7927n61',NULL,'email','sandbox',X'E2AAE807580805D8433AF5B4A4E8249597B49AF461FC432E4CBB7E8230C85C8D',NULL,1,'hit','valid',1.0,0,NULL,NULL,'2026-11-20 09:00:00.000000','2026-11-20 09:00:00.000000');
INSERT INTO "provider_calls" VALUES('cal_06h06brobcr4actp0ebtcg1h','job_06h06brm1soaap141hvtjmbr',NULL,'email','sandbox',X'7893BBA3AD6237CFB770FD45F93600EF95B247869A4E76E4768FB7DAF62FFD56',NULL,1,'suppressed',NULL,0.0,0,NULL,NULL,'2026-11-20 09:00:00.000000','2026-11-20 09:00:00.000000');
INSERT INTO "provider_calls" VALUES('cal_06h06brqpsifpanvkhd1vflm','job_06h06brqa93t9t5apgp1vrlk',NULL,'email','sandbox',X'A88957AC72716D8C62D66ABB1C8D51F263488A79E9048EA1BE501E77537AB808',NULL,1,'hit','accept_all',1.0,0,NULL,'{"outcome": "hit", "emails": [{"email": "accept-all@sandbox.example", "type": "work", "status": "accept_all", "source": {"provider": "sandbox", "kind": "provider", "at": "2026-11-20T09:29:00+00:00"}, "reasons": [], "confidence": null, "verified_at": "2026-11-20T09:29:00+00:00"}], "phones": [], "contact": {"source": {"provider": "sandbox", "kind": "provider", "at": "2026-11-20T09:29:00+00:00"}, "full_name": "Accept All Sandbox", "first_name": "Accept All", "last_name": "Sandbox", "title": "Sample Person", "seniority": null, "department": null, "linkedin_url": "https://www.linkedin.com/in/sandbox-accept-all", "city": null, "country": "US", "company": {"source": {"provider": "sandbox", "kind": "provider", "at": "2026-11-20T09:29:00+00:00"}, "name": "Sandbox", "domain": "sandbox.example", "linkedin_url": null, "industry": null, "headcount": "1-10", "city": null, "country": null}, "emails": [], "phones": []}, "company": null, "cost": 1, "retry_after": null}','2026-11-20 09:29:00.000000','2026-11-20 09:29:00.000000');
INSERT INTO "provider_calls" VALUES('cal_06h06brrjc3k81mgvsta0d2f','job_06h06brr0djnrhbhkl2bhnmg',1,'phone','sandbox',X'F969AA0ACE624059FB3F5950A553C98974F1C31F08EAC8BAF5EC525226A80458','US',1,'hit',NULL,1.0,0,NULL,'{"outcome": "hit", "emails": [], "phones": [{"e164": "+12025550143", "source": {"provider": "sandbox", "kind": "provider", "at": "2026-11-20T09:29:00+00:00"}, "type": "mobile", "status": "valid", "extension": null, "confidence": null, "do_not_call": null, "do_not_call_at": null, "verified_at": "2026-11-20T09:29:00+00:00"}], "contact": {"source": {"provider": "sandbox", "kind": "provider", "at": "2026-11-20T09:29:00+00:00"}, "full_name": "Found Sandbox", "first_name": "Found", "last_name": "Sandbox", "title": "Sample Person", "seniority": null, "department": null, "linkedin_url": "https://www.linkedin.com/in/sandbox-found", "city": null, "country": "US", "company": {"source": {"provider": "sandbox", "kind": "provider", "at": "2026-11-20T09:29:00+00:00"}, "name": "Sandbox", "domain": "sandbox.example", "linkedin_url": null, "industry": null, "headcount": "1-10", "city": null, "country": null}, "emails": [], "phones": []}, "company": null, "cost": 1, "retry_after": null}','2026-11-20 09:29:00.000000','2026-11-20 09:29:00.000000');
INSERT INTO "provider_calls" VALUES('cal_06h06brs7iafn08si2u15r66','job_06h06brro9vb05fmg958dc13',NULL,'email','dropcontact',X'3C88AEDD09CEA051A94BBE9967FDC936CBF8E4F928F3B2B2637E5C0B267CA3AF',NULL,1,'pending',NULL,1.0,NULL,'qzmxkpvlrtdnhwa',NULL,'2026-11-20 09:29:00.000000',NULL);
CREATE TABLE provider_gates (
	provider VARCHAR NOT NULL, 
	tokens JSON NOT NULL, 
	refilled_at DATETIME NOT NULL, 
	window_at DATETIME NOT NULL, 
	state VARCHAR NOT NULL, 
	open_until DATETIME, 
	paused_until DATETIME, 
	failures INTEGER NOT NULL, 
	window_calls INTEGER NOT NULL, 
	window_failures INTEGER NOT NULL, 
	last_outcome VARCHAR, 
	CONSTRAINT pk_provider_gates PRIMARY KEY (provider)
);
INSERT INTO "provider_gates" VALUES('dropcontact','[5.0]','2026-11-20 09:29:00.000000','2026-11-20 09:29:00.000000','closed',NULL,NULL,0,1,0,'hit');
CREATE TABLE provider_opt_outs (
	id VARCHAR(28) NOT NULL, 
	provider VARCHAR NOT NULL, 
	field VARCHAR NOT NULL, 
	question BLOB NOT NULL, 
	asked_by JSON NOT NULL, 
	kind VARCHAR, 
	digest BLOB, 
	state VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	reviewed_at DATETIME, 
	CONSTRAINT pk_provider_opt_outs PRIMARY KEY (id), 
	CONSTRAINT uq_provider_opt_outs_provider_question UNIQUE (provider, question)
);
INSERT INTO "provider_opt_outs" VALUES('opt_06h06broc44g9je8j3sv9dvh','sandbox','email',X'7893BBA3AD6237CFB770FD45F93600EF95B247869A4E76E4768FB7DAF62FFD56','["email"]','email',X'10C0B62AE1E94AA714FBCFC7BF3BE8FC02CE86FF3FC438940B2BDA5220D402C6','listed','2026-11-20 09:00:00.000000',NULL);
CREATE TABLE revealed_values (
	workspace_id VARCHAR NOT NULL, 
	field VARCHAR NOT NULL, 
	value VARCHAR NOT NULL, 
	contact_id VARCHAR(28) NOT NULL, 
	job_id VARCHAR, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_revealed_values PRIMARY KEY (workspace_id, field, value), 
	CONSTRAINT fk_revealed_values_contact_id FOREIGN KEY(contact_id) REFERENCES contacts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_revealed_values_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
INSERT INTO "revealed_values" VALUES('wks_06h06bri42crc0eci6sn7nva','email','found@sandbox.example','con_06h06brnvmvg7no1ea9a7vkq','job_06h06brlpucbe692t7927n61','2026-11-20 09:00:00.000000');
INSERT INTO "revealed_values" VALUES('wks_06h06bri42crc0eci6sn7nva','email','cleo@acme.example','con_06h06brj2jrsuc842am9l9sv','job_06h06brmal0dv6ueng86tpr7','2026-11-20 09:00:00.000000');
INSERT INTO "revealed_values" VALUES('wks_06h06bri42crc0eci6sn7nva','email','bob@acme.example','con_06h06brj2jqjmpq9h1avv3hm','job_06h06brr0djnrhbhkl2bhnmg','2026-11-20 09:29:00.000000');
INSERT INTO "revealed_values" VALUES('wks_06h06bri42crc0eci6sn7nva','phone','+12025550144','con_06h06brj2jqjmpq9h1avv3hm','job_06h06brr0djnrhbhkl2bhnmg','2026-11-20 09:29:00.000000');
CREATE TABLE reveals (
	workspace_id VARCHAR NOT NULL, 
	contact_id VARCHAR(28) NOT NULL, 
	field VARCHAR NOT NULL, 
	job_id VARCHAR NOT NULL, 
	credits INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, refunded_at DATETIME, 
	CONSTRAINT pk_reveals PRIMARY KEY (workspace_id, contact_id, field), 
	CONSTRAINT fk_reveals_contact_id FOREIGN KEY(contact_id) REFERENCES contacts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_reveals_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
INSERT INTO "reveals" VALUES('wks_06h06bri42crc0eci6sn7nva','con_06h06brj2jlppchf7unf311c','email','job_06h06brlja8bi7ca05ce4acu',1,'2026-11-20 09:00:00.000000','2026-11-20 09:00:00.000000');
INSERT INTO "reveals" VALUES('wks_06h06bri42crc0eci6sn7nva','con_06h06brnvmvg7no1ea9a7vkq','email','job_06h06brlpucbe692t7927n61',1,'2026-11-20 09:00:00.000000',NULL);
INSERT INTO "reveals" VALUES('wks_06h06bri42crc0eci6sn7nva','con_06h06brj2jrsuc842am9l9sv','email','job_06h06brmal0dv6ueng86tpr7',1,'2026-11-20 09:00:00.000000',NULL);
INSERT INTO "reveals" VALUES('wks_06h06bri42crc0eci6sn7nva','con_06h06brj2jqjmpq9h1avv3hm','email','job_06h06brr0djnrhbhkl2bhnmg',1,'2026-11-20 09:29:00.000000',NULL);
INSERT INTO "reveals" VALUES('wks_06h06bri42crc0eci6sn7nva','con_06h06brj2jqjmpq9h1avv3hm','phone','job_06h06brr0djnrhbhkl2bhnmg',1,'2026-11-20 09:29:00.000000',NULL);
CREATE TABLE saved_profiles (
	id VARCHAR(28) NOT NULL, 
	workspace_id VARCHAR NOT NULL, 
	linkedin_url VARCHAR NOT NULL, 
	full_name VARCHAR, 
	headline VARCHAR, 
	title VARCHAR, 
	location VARCHAR, 
	company_name VARCHAR, 
	company_domain VARCHAR, 
	company_linkedin_url VARCHAR, 
	list_name VARCHAR, 
	tags JSON NOT NULL, 
	note VARCHAR, 
	saved_by VARCHAR, 
	captured JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_saved_profiles PRIMARY KEY (id), 
	CONSTRAINT fk_saved_profiles_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE, 
	CONSTRAINT uq_saved_profiles_workspace_id_linkedin_url UNIQUE (workspace_id, linkedin_url)
);
INSERT INTO "saved_profiles" VALUES('prf_06h06brpjtbp1s1pcs4ilbvj','wks_06h06bri42crc0eci6sn7nva','https://www.linkedin.com/in/dora-diaz','Dora Diaz',NULL,'Buyer',NULL,'Beta','beta.example',NULL,'Prospects','["x"]',NULL,'acc_06h06brioshp0m9f4lca7b4h','{"full_name": "2026-11-20T08:00:00.000Z", "title": "2026-11-20T08:00:00.000Z", "company_name": "2026-11-20T08:00:00.000Z", "company_domain": "2026-11-20T08:00:00.000Z", "list_name": "2026-11-20T08:00:00.000Z", "tags": "2026-11-20T08:00:00.000Z"}','2026-11-20 09:00:00.000000','2026-11-20 09:00:00.000000');
CREATE TABLE sessions (
	id VARCHAR(28) NOT NULL, 
	account_id VARCHAR(28) NOT NULL, 
	hash BLOB NOT NULL, 
	network BLOB NOT NULL, 
	client_name VARCHAR, 
	client_version VARCHAR, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	last_used_at DATETIME NOT NULL, 
	revoked_at DATETIME, 
	CONSTRAINT pk_sessions PRIMARY KEY (id), 
	CONSTRAINT fk_sessions_account_id FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE, 
	CONSTRAINT uq_sessions_hash UNIQUE (hash)
);
INSERT INTO "sessions" VALUES('ses_06h06brkfldeq8qdvcpsjnnh','acc_06h06brioshp0m9f4lca7b4h',X'731AA48409B4294CFEAFE16C4B145A68F88ADCACD17B0F0B0E9047E00549872F',X'1580AA526D0EDA81E2FD89D8FB05D69A482322559A902A244FF4836B78F30571',NULL,NULL,'2026-11-20 07:30:00.000000','2027-02-18 07:30:00.000000','2026-11-20 09:30:00.000000',NULL);
CREATE TABLE suppressions (
	digest BLOB NOT NULL, 
	kind VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_suppressions PRIMARY KEY (digest)
);
INSERT INTO "suppressions" VALUES(X'FBDE35380BC333667BEE7DEAC8C4D42EE0B93DBDE47FB3FBD7D3B5AA55C6A7AC','email','requested','2026-11-20 07:30:00.000000');
INSERT INTO "suppressions" VALUES(X'10C0B62AE1E94AA714FBCFC7BF3BE8FC02CE86FF3FC438940B2BDA5220D402C6','email','a provider said that this person opted out','2026-11-20 09:00:00.000000');
CREATE TABLE verifications (
	email_id VARCHAR(28) NOT NULL, 
	next_at DATETIME NOT NULL, 
	planned_at DATETIME NOT NULL, 
	provider VARCHAR, 
	ticket VARCHAR, 
	CONSTRAINT pk_verifications PRIMARY KEY (email_id), 
	CONSTRAINT fk_verifications_email_id FOREIGN KEY(email_id) REFERENCES emails (id) ON DELETE CASCADE
);
CREATE TABLE webhook_attempts (
	id VARCHAR(28) NOT NULL, 
	webhook_id VARCHAR(28) NOT NULL, 
	attempted_at DATETIME NOT NULL, 
	status INTEGER, 
	error VARCHAR, 
	latency_ms INTEGER, 
	CONSTRAINT pk_webhook_attempts PRIMARY KEY (id), 
	CONSTRAINT fk_webhook_attempts_webhook_id FOREIGN KEY(webhook_id) REFERENCES webhooks (id) ON DELETE CASCADE
);
CREATE TABLE webhooks (
	id VARCHAR(28) NOT NULL, 
	job_id VARCHAR(28) NOT NULL, 
	url VARCHAR NOT NULL, 
	attempts INTEGER NOT NULL, 
	next_at DATETIME, 
	delivered_at DATETIME, 
	created_at DATETIME NOT NULL, published_at DATETIME, 
	CONSTRAINT pk_webhooks PRIMARY KEY (id), 
	CONSTRAINT fk_webhooks_job_id FOREIGN KEY(job_id) REFERENCES jobs (id) ON DELETE CASCADE, 
	CONSTRAINT uq_webhooks_job_id_url UNIQUE (job_id, url)
);
INSERT INTO "webhooks" VALUES('whk_06h06brmdl5c8j4c7p685rdp','job_06h06brmal0dv6ueng86tpr7','http://127.0.0.1:34187/done',0,'2026-11-20 09:00:00.000000',NULL,'2026-11-20 09:00:00.000000','2026-11-20 09:30:00.000000');
INSERT INTO "webhooks" VALUES('whk_06h06brt546raf1rq63abfv0','job_06h06brt2dagkh3seh6n4dsu','http://127.0.0.1:34187/listed',0,'2026-11-20 09:30:00.000000',NULL,'2026-11-20 09:30:00.000000',NULL);
CREATE TABLE workers (
	name VARCHAR NOT NULL, 
	queues JSON NOT NULL, 
	threads INTEGER NOT NULL, 
	busy INTEGER NOT NULL, 
	state VARCHAR NOT NULL, 
	started_at DATETIME NOT NULL, 
	seen_at DATETIME NOT NULL, 
	taken_at DATETIME, 
	ended_at DATETIME, clock_offset DOUBLE DEFAULT '0' NOT NULL, refused JSON DEFAULT '{}' NOT NULL, 
	CONSTRAINT pk_workers PRIMARY KEY (name)
);
INSERT INTO "workers" VALUES('interactive@host:4711','["interactive"]',10,1,'working','2026-11-20 09:29:00.000000','2026-11-20 09:30:00.000000',NULL,NULL,0.0,'{"held": 1}');
CREATE TABLE workspaces (
	id VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	available BIGINT NOT NULL, 
	held BIGINT NOT NULL, 
	spent BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_workspaces PRIMARY KEY (id), 
	CONSTRAINT ck_workspaces_available_not_negative CHECK (available >= 0), 
	CONSTRAINT ck_workspaces_held_not_negative CHECK (held >= 0)
);
INSERT INTO "workspaces" VALUES('wks_06h06bri42crc0eci6sn7nva','Acme',89,9,2,'2026-11-20 07:30:00.000000');
CREATE INDEX ix_companies_name_key ON companies (name_key);
CREATE INDEX ix_import_runs_touched_at ON import_runs (touched_at);
CREATE INDEX ix_accounts_workspace_id ON accounts (workspace_id);
CREATE INDEX ix_contacts_company_id_last_key ON contacts (company_id, last_key);
CREATE INDEX ix_contacts_name_key ON contacts (name_key);
CREATE INDEX ix_idempotency_keys_created_at ON idempotency_keys (created_at);
CREATE INDEX ix_jobs_live ON jobs (run_after) WHERE status IN ('queued', 'running');
CREATE INDEX ix_jobs_workspace_id_question ON jobs (workspace_id, question, created_at);
CREATE UNIQUE INDEX uq_jobs_open_question ON jobs (workspace_id, question) WHERE status IN ('queued', 'running');
CREATE INDEX ix_ledger_workspace_id ON ledger (workspace_id);
CREATE UNIQUE INDEX uq_ledger_close ON ledger (job_id) WHERE kind IN ('settle', 'release');
CREATE UNIQUE INDEX uq_ledger_hold ON ledger (job_id) WHERE kind = 'hold';
CREATE INDEX ix_api_keys_account_id ON api_keys (account_id);
CREATE INDEX ix_emails_domain_form ON emails (domain, form);
CREATE INDEX ix_emails_email ON emails (email);
CREATE INDEX ix_phones_e164 ON phones (e164);
CREATE INDEX ix_sessions_account_id ON sessions (account_id);
CREATE INDEX ix_webhooks_next_at ON webhooks (next_at) WHERE delivered_at IS NULL;
CREATE INDEX ix_provider_calls_asked_at ON provider_calls (asked_at);
CREATE INDEX ix_provider_calls_field_asked_at ON provider_calls (field, asked_at);
CREATE INDEX ix_provider_calls_job_id ON provider_calls (job_id);
CREATE INDEX ix_provider_calls_provider_asked_at ON provider_calls (provider, asked_at);
CREATE INDEX ix_provider_calls_subject ON provider_calls (subject, provider, asked_at);
CREATE INDEX ix_feedback_contact_id ON feedback (contact_id);
CREATE INDEX ix_feedback_kind_created_at ON feedback (kind, created_at);
CREATE INDEX ix_webhook_attempts_attempted_at ON webhook_attempts (attempted_at);
CREATE INDEX ix_webhook_attempts_webhook_id ON webhook_attempts (webhook_id);
CREATE INDEX ix_feedback_workspace_id_created_at ON feedback (workspace_id, created_at);
CREATE INDEX ix_jobs_workspace_id_created_at ON jobs (workspace_id, created_at, id);
CREATE INDEX ix_caller_identifiers_contact_id ON caller_identifiers (contact_id);
CREATE INDEX ix_caller_identifiers_digest ON caller_identifiers (digest);
CREATE INDEX ix_revealed_values_contact_id ON revealed_values (contact_id);
CREATE INDEX ix_reveals_contact_id ON reveals (contact_id);
CREATE INDEX ix_jobs_queue ON jobs (queue, workspace_id) WHERE status IN ('queued', 'running');
COMMIT;
