// The page rules that the extension has without a server's: rules that fit any website, and none of a single site.
// app/features/page_rules/rules.json has the same and those of sites; a test compares them.

/** @type {import("./reader/types.js").PageRules} */
// prettier-ignore
export const GENERIC_RULES = {
  "version": 0,
  "off": [
    "*.ancestry.com", "*.bumble.com", "*.discord.com", "*.facebook.com", "*.grindr.com", "*.instagram.com",
    "*.match.com", "*.messenger.com", "*.myheritage.com", "*.ok.ru", "*.okcupid.com", "*.paypal.com",
    "*.pinterest.com", "*.reddit.com", "*.signal.org", "*.snapchat.com", "*.telegram.org", "*.threads.net",
    "*.tiktok.com", "*.tinder.com", "*.twitter.com", "*.vk.com", "*.whatsapp.com", "*.x.com"
  ],
  "apps": [
    "*.linkedin.com", "mail.google.com", "calendar.google.com", "contacts.google.com", "docs.google.com",
    "drive.google.com", "meet.google.com", "chat.google.com", "outlook.live.com", "outlook.office.com",
    "outlook.office365.com", "outlook.cloud.microsoft", "app.hubspot.com", "app-*.hubspot.com",
    "*.lightning.force.com", "*.my.salesforce.com", "app.pipedrive.com", "app.twenty.com", "*.twenty.com",
    "mail.*", "webmail.*", "roundcube.*", "sogo.*", "zimbra.*", "owa.*"
  ],
  "sites": [],
  "generic": [
    {"name": "json-ld", "read": "json-ld"},
    {
      "name": "microdata",
      "item": ["[itemtype*='schema.org/Person']"],
      "fields": {
        "full_name": ["[itemprop~='name']"],
        "title": ["[itemprop~='jobTitle']"],
        "company_name": ["[itemprop~='worksFor'] [itemprop~='name']", "[itemprop~='worksFor']", "[itemprop~='affiliation']"],
        "location": ["[itemprop~='addressLocality']", "[itemprop~='workLocation']"],
        "email": ["[itemprop~='email'] @href", "[itemprop~='email']", "a[href^='mailto:'] @href"],
        "phone": ["[itemprop~='telephone']", "a[href^='tel:'] @href"],
        "link": ["a[href*='linkedin.com/'] @href"]
      }
    },
    {
      "name": "h-card",
      "item": [".h-card", ".vcard"],
      "fields": {
        "full_name": [".p-name", ".fn"],
        "title": [".p-job-title", ".title", ".role"],
        "company_name": [".p-org", ".org"],
        "location": [".p-locality", ".locality"],
        "email": [".u-email @href", ".u-email", "a.email @href", ".email"],
        "phone": [".p-tel", ".tel .value", ".tel"],
        "link": ["a[href*='linkedin.com/'] @href"]
      }
    },
    {"name": "contact-links", "read": "contact-links", "except": ["footer"]},
    {"name": "profile-links", "read": "profile-links"},
    {"name": "team", "read": "team"},
    {"name": "addresses", "read": "addresses"}
  ],
  "words": {
    "view_profile": [
      "View {}’s profile", "View {}'s profile", "View {}’ profile", "View {} profile", "View profile of {}",
      "{}’s profile", "Profil von {} anzeigen", "Profil von {} ansehen", "{}s Profil anzeigen",
      "Voir le profil de {}", "Afficher le profil de {}", "Voir le profil d’{}", "Ver el perfil de {}",
      "Ver perfil de {}", "Ver o perfil de {}", "Visualizza il profilo di {}", "Vedi il profilo di {}",
      "Profiel van {} bekijken", "Bekijk het profiel van {}", "{}さんのプロフィールを表示", "查看{}的档案",
      "Status is online {}", "{} is open to work", "{} is hiring", "{}, #OPEN_TO_WORK", "{}, #HIRING",
      "Profil von {} aufrufen", "Exibir perfil de {}", "Profiel van {} weergeven",
      "Wyświetl profil użytkownika {}", "Visa profilen för {}", "Se profilen til {}", "Vis profilen til {}",
      "{} adlı kullanıcının profilini görüntüle", "Открыть профиль {}", "{}님의 프로필 보기"
    ],
    "members": [
      "LinkedIn Member", "LinkedIn Mitglied", "LinkedIn-Mitglied", "Membre de LinkedIn", "Membre LinkedIn",
      "Miembro de LinkedIn", "Utente LinkedIn", "Membro di LinkedIn", "Usuário do LinkedIn",
      "Utilizador do LinkedIn", "LinkedIn-lid", "LinkedInメンバー", "领英会员", "Użytkownik LinkedIn",
      "LinkedIn-medlem", "Участник LinkedIn", "LinkedIn Üyesi", "LinkedIn 회원", "LinkedIn 會員", "領英會員"
    ],
    "badges": [
      "1st", "2nd", "3rd", "3rd+", "1st degree connection", "2nd degree connection", "3rd degree connection",
      "Out of network", "1.", "2.", "3.", "3.+", "Kontakt 1. Grades", "Kontakt 2. Grades", "Kontakt 3. Grades",
      "1er", "2e", "3e", "3e et +", "Relation de 1er niveau", "Relation de 2e niveau", "1.º", "2.º", "3.º",
      "Premium", "LinkedIn Premium", "Verified", "Verifiziert", "Vérifié", "Verificado", "Open to work",
      "#OpenToWork", "Offen für Angebote", "À l’écoute d’opportunités", "Reachable", "Viewed", "Saved",
      "Is reachable", "is online", "Online", "Influencer", "Top Voice", "Add to selection", "Organizer",
      "Organisator", "Organisateur", "Organizador", "Optional", "Facultatif", "you", "me", "moi", "ich", "yo",
      "Kontakt 3. Grades und mehr", "Relation de 3e niveau et plus", "Verificato", "Geverifieerd", "#Hiring",
      "Disponible para trabajar"
    ],
    "pronouns": [
      "she", "her", "hers", "he", "him", "his", "they", "them", "theirs", "sie", "ihr", "er", "ihm", "dey",
      "elle", "il", "iel", "lui", "ella", "él", "elle/iel", "lei", "zij", "haar", "hij", "hem", "ela", "ele",
      "hon", "henne", "hun", "hende", "ona", "jej", "她", "他"
    ],
    "titles": [
      "ceo", "cto", "cfo", "coo", "cmo", "cio", "ciso", "cpo", "cro", "chro", "chief", "president", "chair",
      "founder", "co-founder", "owner", "partner", "principal", "director", "head", "lead", "leader",
      "manager", "officer", "executive", "supervisor", "coordinator", "administrator", "specialist",
      "consultant", "advisor", "analyst", "associate", "assistant", "secretary", "engineer", "developer",
      "programmer", "architect", "designer", "scientist", "researcher", "technician", "operator", "accountant",
      "controller", "auditor", "attorney", "lawyer", "counsel", "paralegal", "recruiter", "talent", "sales",
      "marketing", "editor", "writer", "journalist", "producer", "professor", "lecturer", "teacher",
      "instructor", "doctor", "physician", "surgeon", "nurse", "therapist", "dentist", "pharmacist", "agent",
      "broker", "representative", "trainer", "coach", "strategist", "planner", "buyer", "vice", "vp", "svp",
      "evp", "trainee", "intern", "apprentice", "geschäftsführer", "geschäftsführung", "geschäftsleitung",
      "vorstand", "vorsitzende", "leiter", "leitung", "teamleitung", "abteilungsleiter", "referent",
      "sachbearbeiter", "mitarbeiter", "ansprechpartner", "berater", "vertrieb", "einkauf", "buchhaltung",
      "personal", "entwickler", "ingenieur", "techniker", "assistenz", "sekretariat", "gründer", "inhaber",
      "prokurist", "gesellschafter", "rechtsanwalt", "rechtsanwältin", "anwalt", "anwältin", "steuerberater",
      "ärztin", "arzt", "pfleger", "auszubildende", "werkstudent", "praktikant", "redakteur", "dozent",
      "beauftragte", "directeur", "directrice", "dirigeant", "gérant", "président", "présidente", "fondateur",
      "fondatrice", "associé", "responsable", "chef", "cheffe", "chargé", "chargée", "ingénieur",
      "développeur", "développeuse", "comptable", "conseiller", "conseillère", "commercial", "commerciale",
      "avocat", "avocate", "assistante", "secrétaire", "gestionnaire", "rédacteur", "rédactrice", "chercheur",
      "stagiaire", "gerente", "directora", "fundador", "fundadora", "socio", "socia", "jefe", "jefa",
      "ingeniero", "ingeniera", "desarrollador", "desarrolladora", "contador", "abogado", "abogada", "asesor",
      "asesora", "consejero", "presidente", "presidenta", "ventas", "direttore", "direttrice",
      "amministratore", "fondatore", "responsabile", "ingegnere", "sviluppatore", "avvocato", "consulente",
      "diretor", "diretora", "sócio", "sócia", "engenheiro", "engenheira", "desenvolvedor", "gestor",
      "gestora", "vendas", "bestuurder", "oprichter", "eigenaar", "medewerker", "adviseur", "ontwikkelaar",
      "verkoper", "advocaat", "代表取締役", "取締役", "社長", "部長", "課長", "マネージャー", "エンジニア", "营销", "经理", "总监", "总裁",
      "工程师", "创始人"
    ],
    "not_names": [
      "about", "human resources", "case study", "white paper", "customer success", "free trial", "about us",
      "our", "our team", "the team", "team", "meet", "contact", "contact us", "contacts", "careers", "jobs",
      "news", "press", "blog", "home", "services", "products", "solutions", "support", "help", "pricing",
      "customers", "partners", "company", "events", "imprint", "privacy", "terms", "read more", "learn more",
      "more", "get in touch", "follow", "share", "download", "subscribe", "sign in", "log in", "show all",
      "view profile", "connect", "message", "leadership", "management", "board", "advisory", "sales",
      "marketing", "engineering", "finance", "operations", "legal", "office", "offices", "headquarters",
      "location", "locations", "über", "uns", "unser", "unsere", "ansprechpartner", "kontakt", "karriere",
      "aktuelles", "leistungen", "produkte", "impressum", "datenschutz", "standort", "standorte", "mehr",
      "weiterlesen", "équipe", "notre", "nos", "nous", "à propos", "contactez", "actualités", "produits",
      "mentions", "plus", "equipo", "nuestro", "nuestra", "nosotros", "contacto", "noticias", "productos",
      "aviso", "más", "team members", "chi siamo", "contatti", "prodotti", "equipe", "contato"
    ],
    "particles": [
      "de", "del", "della", "di", "da", "do", "dos", "das", "du", "des", "la", "le", "les", "van", "von",
      "vom", "zu", "zum", "zur", "der", "den", "ter", "ten", "het", "el", "al", "bin", "ibn", "abu", "ben",
      "y", "e", "i", "und", "st", "af", "av", "'t", "dr", "dr.", "prof", "prof.", "mag.", "ing.", "dipl.-ing.",
      "mr", "mrs", "ms", "mr.", "mrs.", "ms."
    ],
    "roles": [
      "info", "contact", "contacts", "kontakt", "contacto", "contato", "contatti", "hello", "hi", "hallo",
      "bonjour", "hola", "office", "mail", "email", "post", "team", "sales", "vertrieb", "ventas", "vendas",
      "marketing", "support", "help", "helpdesk", "service", "kundenservice", "customerservice", "billing",
      "invoice", "invoices", "accounting", "buchhaltung", "finance", "hr", "jobs", "job", "career",
      "careers", "karriere", "bewerbung", "recruiting", "recruitment", "press", "presse", "prensa", "media",
      "pr", "privacy", "datenschutz", "dpo", "dsgvo", "gdpr", "legal", "compliance", "security", "abuse",
      "postmaster", "webmaster", "hostmaster", "admin", "administrator", "root", "noreply", "no-reply",
      "donotreply", "do-not-reply", "newsletter", "news", "subscribe", "unsubscribe", "feedback", "orders",
      "order", "shop", "store", "booking", "reservations", "reception", "empfang", "zentrale", "secretary",
      "sekretariat", "partners", "partner", "investors", "ir", "events", "example", "test"
    ]
  }
};
